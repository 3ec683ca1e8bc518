import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RebuildQueue } from '../../../src/actors/rebuild/rebuild-queue.ts';
import { runs } from '../../support/runs.ts';

const budgetMs = 40;

function dependents(taken: readonly { dependent: string }[]): string[] {
  return taken.map(({ dependent }) => dependent);
}

test('rebuild queue: invalidations of one dependent merge while they wait', () => {
  const queue = new RebuildQueue();
  queue.add('acme', 'a', 3, 3);
  queue.add('acme', 'b', 4, 4);
  assert.deepEqual(
    { ...queue.add('acme', 'a', 9, 9) },
    { tenant: 'acme', dependent: 'a', first: 3, last: 9, cause: null },
  );
  assert.equal(queue.size, 2);
  assert.deepEqual(dependents(queue.take(0, budgetMs)), ['a', 'b']);
  assert.equal(queue.size, 0);
  assert.deepEqual(queue.take(0, budgetMs), []);
});

test('rebuild queue: tenants take turns, however many rebuilds one of them has', () => {
  const queue = new RebuildQueue();
  for (let index = 0; index < 1000; index += 1) queue.add('big', `b${index}`, index + 1, index + 1);
  queue.add('small', 's', 2000, 2000);
  assert.ok(dependents(queue.take(0, budgetMs))[0]?.startsWith('b'));
  assert.deepEqual(dependents(queue.take(0, budgetMs)), ['s']);
  assert.ok(dependents(queue.take(0, budgetMs))[0]?.startsWith('b'));
});

test('rebuild queue: a portion has about the allowed amount of work, and at least one dependent', () => {
  const queue = new RebuildQueue();
  queue.add('t', 'slow', 1, 1);
  queue.take(0, budgetMs);
  queue.done(['slow'], 0, 500);
  queue.add('t', 'slow', 2, 2);
  queue.add('t', 'next', 3, 3);
  assert.deepEqual(dependents(queue.take(100_000, budgetMs)), ['slow']);
  assert.deepEqual(dependents(queue.take(100_000, budgetMs)), ['next']);
});

test('rebuild queue: the measured cost of a kind determines the size of a portion', () => {
  const queueOf = (kind: string) => {
    const queue = new RebuildQueue();
    for (let number = 0; number < 300; number += 1) {
      queue.add('t', `v|e|${kind}|s|${number}`, number + 1, number + 1);
    }
    return queue;
  };
  for (const [costMs, least, most] of [
    [200, 1, 1],
    [0.1, 100, 300],
  ] as const) {
    const queue = queueOf('card');
    const first = queue.take(0, budgetMs);
    assert.ok(first.length < 10, `${first.length} of unknown cost`);
    queue.done(dependents(first), 0, first.length * costMs);
    const { length } = queue.take(0, budgetMs);
    assert.ok(length >= least && length <= most, `${length} of ${costMs} ms each`);
  }
});

test('rebuild queue: a portion is bounded in number, however fast its dependents are', () => {
  const queue = new RebuildQueue();
  const all = Array.from({ length: 3000 }, (_, index) => `m${index}`);
  queue.done(all, 0, 1);
  for (const [index, dependent] of all.entries()) queue.add('t', dependent, index + 1, index + 1);
  const taken = queue.take(100_000, budgetMs);
  assert.ok(taken.length > 100 && taken.length <= 1000, String(taken.length));
});

test('rebuild queue: a dependent rests at least as long as its rebuild took, up to a limit', () => {
  const queue = new RebuildQueue();
  queue.done(['a'], 1000, 100);
  queue.add('t', 'a', 1, 1);
  assert.equal(queue.take(1099, budgetMs).length, 0);
  const waitMs = queue.readyInMs(1000);
  assert.ok(waitMs !== null && waitMs >= 100, String(waitMs));
  assert.equal(queue.take(1000 + waitMs, budgetMs).length, 1);
  queue.done(['a'], 5000, 60_000);
  queue.add('t', 'a', 2, 2);
  const longMs = queue.readyInMs(5000);
  assert.ok(longMs !== null && longMs <= 2000, 'Min-Version waits 5 s at most');
});

test('rebuild queue: a resting dependent delays no other one', () => {
  const queue = new RebuildQueue();
  queue.done(['a'], 0, 1000);
  queue.add('t', 'a', 1, 1);
  queue.add('t', 'b', 2, 2);
  assert.equal(queue.readyInMs(0), 0);
  assert.deepEqual(dependents(queue.take(0, budgetMs)), ['b']);
  assert.ok((queue.readyInMs(0) ?? 0) > 0);
  assert.equal(new RebuildQueue().readyInMs(0), null);
});

interface Model {
  readonly tenant: string;
  readonly dependent: string;
  first: number;
}

test('rebuild queue: the first invalidation of each tenant is the oldest that waits, whatever was taken before', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.record({
            kind: fc.constant('add' as const),
            tenant: fc.constantFrom('a', 'b'),
            dependent: fc.constantFrom('m1', 'm2', 'm3', 'm4'),
          }),
          fc.record({ kind: fc.constant('take' as const), afterMs: fc.nat(400), tookMs: fc.nat(300) }),
        ),
        { maxLength: 60 },
      ),
      (steps) => {
        const queue = new RebuildQueue();
        const waiting: Model[] = [];
        let sequence = 0;
        let nowMs = 0;
        for (const step of steps) {
          if (step.kind === 'add') {
            sequence += 1;
            const { tenant, dependent } = step;
            queue.add(tenant, dependent, sequence, sequence);
            if (!waiting.some((known) => known.tenant === tenant && known.dependent === dependent)) {
              waiting.push({ tenant, dependent, first: sequence });
            }
          } else {
            nowMs += step.afterMs;
            const taken = queue.take(nowMs, budgetMs);
            assert.ok(new Set(taken.map(({ tenant }) => tenant)).size <= 1, 'of one tenant');
            for (const { tenant, dependent, first } of taken) {
              const at = waiting.findIndex(
                (known) => known.tenant === tenant && known.dependent === dependent,
              );
              assert.equal(waiting[at]?.first, first);
              waiting.splice(at, 1);
            }
            if (taken.length > 0) queue.done(dependents(taken), nowMs, step.tookMs);
          }
          const expected = new Map<string, number>();
          for (const { tenant, first } of waiting) {
            expected.set(tenant, Math.min(first, expected.get(tenant) ?? first));
          }
          assert.deepEqual(new Map([...queue.firstInvalidations()].sort()), new Map([...expected].sort()));
          assert.equal(queue.size, waiting.length);
        }
      },
    ),
    { numRuns: runs(300) },
  );
});
