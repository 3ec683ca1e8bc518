import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finish, runSync, type Steps, Suspended, workBudget } from '../../src/lib/cooperative-yield.ts';

function* counting(to: number): Steps<number> {
  let count = 0;
  while (count < to) {
    count += 1;
    workBudget.units += workBudget.unitsPerClockCheck;
    if (workBudget.isOver()) yield;
  }
  return count;
}

test('cooperative yield: work pauses when its time is over, and only then', () => {
  const { clock } = workBudget;
  workBudget.units = 0;
  workBudget.clock = () => true;
  const steps = counting(3);
  assert.deepEqual([steps.next().done, steps.next().done, steps.next().done], [false, false, false]);
  assert.deepEqual(steps.next(), { done: true, value: 3 });
  workBudget.clock = () => false;
  assert.deepEqual(counting(3).next(), { done: true, value: 3 });
  workBudget.clock = clock;
});

test('cooperative yield: the clock is checked only after enough work', () => {
  const { clock } = workBudget;
  let looks = 0;
  workBudget.clock = () => {
    looks += 1;
    return false;
  };
  workBudget.units = 0;
  for (let at = 0; at < 10; at += 1) {
    workBudget.units += workBudget.unitsPerClockCheck / 5;
    workBudget.isOver();
  }
  workBudget.clock = clock;
  assert.equal(looks, 2);
});

test('cooperative yield: `finish` runs all steps without a break, whatever the clock says', () => {
  const { clock } = workBudget;
  workBudget.clock = () => true;
  assert.equal(runSync(counting(5)), 5);
  workBudget.clock = clock;
  assert.equal(finish(new Suspended(counting(5))), 5);
  assert.equal(finish(7), 7);
});
