import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workBudget } from '../../../src/lib/cooperative-yield.ts';
import { CodeTally } from '../../../src/search/columns/code-tally.ts';

test('code tally: codes are counted, absent ones are not, and a cleared tally is like new', () => {
  const tally = new CodeTally();
  tally.reserve(5000);
  for (let round = 0; round < 2; round += 1) {
    tally.countCodes(Int32Array.of(4999, -1, 2, 4999), Int32Array.of(0, 1, 2, 3), 0, 4);
    assert.equal(tally.size, 2);
    assert.deepEqual([tally.countOf(4999), tally.countOf(2), tally.countOf(1)], [2, 1, 0]);
    assert.equal(tally.codeAt(0), 4999);
    tally.clear();
  }
});

test('code tally: counting long lists pauses to check the clock', () => {
  const tally = new CodeTally();
  const lists = {
    items: new Int32Array(50_000),
    starts: Uint32Array.of(0, 0, 0),
    counts: Uint32Array.of(50_000, 50_000, 1),
  };
  workBudget.units = 0;
  assert.equal(tally.countLists(lists, Int32Array.of(0, 1, 2), 0, 3), 1);
  workBudget.units = 0;
  assert.equal(tally.countLists(lists, Int32Array.of(0, 1, 2), 1, 3), 2);
  workBudget.units = 0;
});
