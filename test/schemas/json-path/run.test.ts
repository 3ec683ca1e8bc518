import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { buildStepsMax } from '../../../src/contract/limits.ts';
import { finish, Suspended } from '../../../src/lib/cooperative-yield.ts';
import { compilePath } from '../../../src/schemas/json-path/json-path.ts';
import { PathRun, within } from '../../../src/schemas/json-path/run.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { alwaysOver } from '../../support/always-over.ts';
import { frameOver } from '../support/fixtures.ts';

test('run: a run spends the steps of its build and stops when there are none', () => {
  const frame = frameOver(null);
  new PathRun(frame).spend(buildStepsMax - 1);
  const spendOne = (run: PathRun) => {
    run.spend(1);
    return ['selected'];
  };
  assert.deepEqual(within(frame, spendOne), ['selected']);
  assert.deepEqual(within(frame, spendOne), []);
  assert.deepEqual(
    frame.build.outcome().diagnostics.map(({ kind }) => kind),
    ['limitReached'],
  );
});

test('run: a hole is evaluated once per run, whatever its value, and again in the next', () => {
  const frame = frameOver(null);
  for (const value of [null, '', 0, [1]]) {
    let evaluated = 0;
    const hole = () => {
      evaluated += 1;
      return value;
    };
    const run = new PathRun(frame);
    assert.deepEqual([run.filled(hole), run.filled(hole), evaluated], [value, value, 1]);
    new PathRun(frame).filled(hole);
    assert.equal(evaluated, 2);
  }
});

test('run: an error that is not about steps is rethrown', () => {
  const fail = () => {
    throw new Error('failed');
  };
  assert.throws(() => within(frameOver(null), fail), /failed/);
});

// A condition that visits many values of one element does so in steps.
const many = Array.from({ length: 100_000 }, (_, at) => at % 10);
const root: Json = { large: { many }, text: 'abc '.repeat(50_000), small: [1] };

/** What a path selects, and how many steps of about 0.1 ms it took. */
function steps(path: string): { found: readonly Json[]; count: number } {
  const made = compilePath(path, Scope.partial);
  return alwaysOver(() => {
    const first = made.list(frameOver(root));
    if (!(first instanceof Suspended)) return { found: first, count: 1 };
    for (let count = 1; ; count += 1) {
      const { done, value } = first.steps.next();
      if (done) return { found: value, count };
    }
  });
}

const paths = [
  '$[?count(@..*) > 99999]',
  '$[?@..none]',
  '$[?@.many[?@ > 8]]',
  '$.small[?count($.large..*) == 100001]',
  '$[?count(@[?count(@[*]) > 9]) == 1 || @.none]',
  "$[?match(@, '(abc |b)*')]",
  "$[?search(@, 'zz')]",
  "$[?@..none || match(@, 'a.*') && !search(@, 'zz')]",
];

for (const path of paths) {
  test(`walk: one expensive condition takes many steps, and selects the same as without pauses: ${path}`, () => {
    const runSync = finish(compilePath(path, Scope.partial).list(frameOver(root)));
    const { found, count } = steps(path);
    assert.deepEqual(found, runSync);
    assert.ok(count > 100, `${count} steps`);
  });
}

test('walk: interleaved evaluations of one path do not share state', () => {
  const path = compilePath('$.a[?count(@..*) == 30000]', Scope.partial);
  const lists = [30_000, 20_000].map((length) => [Array.from({ length }, () => 1)]);
  const found = new Map<number, readonly Json[]>();
  alwaysOver(() => {
    const open = lists.map((a) => path.list(frameOver({ a })));
    while (found.size < open.length) {
      for (const [at, one] of open.entries()) {
        assert.ok(one instanceof Suspended);
        if (found.has(at)) continue;
        const { done, value } = one.steps.next();
        if (done) found.set(at, value);
      }
    }
  });
  assert.deepEqual([found.get(0), found.get(1)], [lists[0], []]);
});
