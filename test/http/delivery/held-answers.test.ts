import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ProblemError } from '../../../src/contract/errors.ts';
import { HeldAnswer, HeldAnswers, type Taker } from '../../../src/http/delivery/held-answers.ts';

const answer = (tenant: string, bytes: number) => new HeldAnswer(tenant, '', new Uint8Array(), bytes);

function taking(held: HeldAnswers, of: HeldAnswer): Taker & { isCutOff: boolean } {
  const taker = {
    isCutOff: false,
    cutOff: () => {
      taker.isCutOff = true;
      held.taken(of, taker);
    },
  };
  of.takers.add(taker);
  return taker;
}

test('held answers: a tenant fills its share, and another tenant still has room', () => {
  const held = new HeldAnswers(100);
  for (let count = 0; count < 5; count += 1) held.hold(answer('one', 10), null);
  assert.throws(() => held.hold(answer('one', 1), null), ProblemError);
  held.hold(answer('two', 25), null);
  assert.throws(() => held.hold(answer('two', 1), null), ProblemError);
  held.hold(answer('three', 12), null);
  assert.equal(held.bytes, 87);
});

test('held answers: an answer of any size is held if alone, and can be replaced by one that is no larger', () => {
  const held = new HeldAnswers(100);
  const large = answer('one', 1000);
  held.hold(large, null);
  const next = answer('one', 1000);
  held.hold(next, large);
  assert.equal(held.bytes, 1000);
  assert.throws(() => held.hold(answer('two', 1), null), ProblemError);
  held.release(next);
  assert.equal(held.bytes, 0);
});

test('held answers: previous answers that slow clients still receive are held, and dropped for room, the oldest first', () => {
  const held = new HeldAnswers(100);
  const versions = [answer('one', 15), answer('one', 15), answer('one', 15), answer('one', 15)];
  const takers = versions.map((version, at) => {
    held.hold(version, versions[at - 1] ?? null);
    return taking(held, version);
  });
  assert.equal(held.bytes, 45, 'three of four');
  assert.deepEqual(
    takers.map(({ isCutOff }) => isCutOff),
    [true, false, false, false],
  );
  for (const [at, version] of versions.entries())
    for (const taker of [...version.takers]) {
      held.taken(version, taker);
      assert.equal(held.bytes, [45, 30, 15, 15][at]);
    }
});

type Step = { act: 'open' | 'renew' | 'take' | 'taken' | 'close'; at: number; bytes: number; tenant: string };

test('held answers: the sum equals the answers held, within the bound, and each tenant is within its share', () => {
  const step = fc.record<Step>({
    act: fc.constantFrom('open', 'renew', 'take', 'taken', 'close'),
    at: fc.nat(20),
    bytes: fc.integer({ min: 1, max: 30 }),
    tenant: fc.constantFrom('one', 'two', 'three'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const held = new HeldAnswers(100);
      const present: HeldAnswer[] = [];
      const all = new Set<HeldAnswer>();
      for (const { act, at, bytes, tenant } of steps) {
        const one = present[at % Math.max(1, present.length)];
        try {
          if (act === 'open') {
            const next = answer(tenant, bytes);
            held.hold(next, null);
            present.push(next);
            all.add(next);
          } else if (one === undefined) continue;
          else if (act === 'renew') {
            present.splice(present.indexOf(one), 1);
            const next = answer(one.tenant, bytes);
            held.hold(next, one);
            present.push(next);
            all.add(next);
          } else if (act === 'take') taking(held, one);
          else if (act === 'close') {
            held.release(one);
            present.splice(present.indexOf(one), 1);
          } else {
            for (const any of all) for (const taker of any.takers) held.taken(any, taker);
          }
        } catch (error) {
          assert.ok(error instanceof ProblemError && error.problem.name === 'liveAnswersFull');
        }
        const there = [...all].filter(({ isPresent, takers }) => isPresent || takers.size > 0);
        assert.equal(
          held.bytes,
          there.reduce((sum, { bytes: of }) => sum + of, 0),
        );
        assert.ok(held.bytes <= 100);
      }
    }),
  );
});
