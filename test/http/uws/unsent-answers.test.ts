import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlowReaderCheck } from '../../../src/http/uws/unsent-answers.ts';

/** @returns after how many seconds it was too slow; null: never */
function seconds(takenAt: (second: number) => number): number | null {
  const pace = new SlowReaderCheck(0, takenAt(0));
  for (let second = 1; second <= 600; second += 1) {
    if (pace.isTooSlow(second * 1000, takenAt(second))) return second;
  }
  return null;
}

test('unsent answers: a client that reads nothing is too slow after 10 s, whatever it read before', () => {
  assert.equal(
    seconds(() => 2_000_000),
    10,
  );
  assert.equal(
    seconds((second) => Math.min(second, 60) * 1_000_000),
    70,
  );
});

test('unsent answers: a client that reads 1 KB in 3 s is too slow soon', () => {
  assert.equal(
    seconds((second) => 1024 * Math.floor(second / 3)),
    13,
  );
});

test('unsent answers: a client that reads 16 KB in 9 s is not, though some checks see less', () => {
  const pieces = (second: number) => Math.floor(second / 9);
  assert.equal(
    seconds((second) => 16_384 * pieces(second)),
    null,
  );
  assert.equal(
    seconds((second) => 16_384 * pieces(second) - 2_048 * (pieces(second) % 2)),
    null,
  );
  assert.equal(
    seconds((second) => 4_096 * Math.floor((1_820 * second) / 4_096)),
    null,
  );
});
