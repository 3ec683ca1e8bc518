import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync, workBudget } from '../../../src/lib/cooperative-yield.ts';
import { keepBy, siftAll, siftBy } from '../../../src/search/filter/matcher.ts';
import { matcherOf } from '../support/matchers.ts';

const isEven = (doc: number): boolean => doc % 2 === 0;

test('matcher: matching docs stay, in order, at the beginning of the list', () => {
  for (const sift of [keepBy, (...args: Parameters<typeof siftBy>) => runSync(siftBy(...args))]) {
    const docs = Int32Array.from([4, 1, 2, 3, 8, 5]);
    assert.equal(sift(isEven, docs, 5), 3);
    assert.deepEqual([...docs.subarray(0, 3)], [4, 2, 8]);
  }
});

test('matcher: a slow test yields to other work', () => {
  const { clock } = workBudget;
  workBudget.clock = () => true;
  const docs = Int32Array.from({ length: 100 }, (_, doc) => doc);
  const steps = siftBy(
    (doc) => {
      workBudget.units += workBudget.unitsPerClockCheck;
      return isEven(doc);
    },
    docs,
    100,
  );
  let pauses = 0;
  while (steps.next().done !== true) pauses += 1;
  workBudget.clock = clock;
  assert.ok(pauses >= 99, `${pauses} pauses`);
  assert.deepEqual([...docs.subarray(0, 3)], [0, 2, 4]);
});

test('matcher: every matcher must match; without matchers all docs are kept', () => {
  const docs = Int32Array.from([1, 2, 3]);
  assert.equal(runSync(siftAll([], docs, 3)), 3);
  assert.equal(runSync(siftAll([matcherOf([1, 2], 4), matcherOf([2, 3], 4)], docs, 3)), 1);
  assert.equal(docs[0], 2);
});
