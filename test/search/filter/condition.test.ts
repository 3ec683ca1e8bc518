import assert from 'node:assert/strict';
import { test } from 'node:test';
import { itemsPerStep, workBudget } from '../../../src/lib/cooperative-yield.ts';
import { Bitmap } from '../../../src/search/bitmap.ts';
import { matchNothing, matchSet, matchTested } from '../../../src/search/filter/condition.ts';
import { docsOf } from '../support/columns.ts';
import { setOf } from '../support/matchers.ts';

test('condition: nothing, a set and a test find their docs with every method', () => {
  assert.deepEqual(docsOf(matchNothing, 10), []);
  assert.deepEqual(docsOf(matchSet(setOf([1, 7], 10)), 10), [1, 7]);
  assert.deepEqual(
    docsOf(
      matchTested((doc) => doc % 4 === 1),
      10,
    ),
    [1, 5, 9],
  );
});

test('condition: a scan pauses to check the clock at least every so many docs', () => {
  const set = new Bitmap(200_000);
  workBudget.units = 0;
  assert.equal(matchTested(() => false).scan(set, 0, 200_000), itemsPerStep);
  workBudget.units = 0;
  const costly = matchTested(() => {
    workBudget.units += workBudget.unitsPerClockCheck / 10;
    return false;
  });
  assert.equal(costly.scan(set, 5, 200_000), 15);
  workBudget.units = 0;
});
