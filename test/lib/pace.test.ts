import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce, finish, pace, type Steps, Unfinished } from '../../src/lib/pace.ts';

function* counting(to: number): Steps<number> {
  let count = 0;
  while (count < to) {
    count += 1;
    pace.units += pace.unitsPerLook;
    if (pace.isOver()) yield;
  }
  return count;
}

test('work pauses when its time is over, and only then', () => {
  const { clock } = pace;
  pace.units = 0;
  pace.clock = () => true;
  const steps = counting(3);
  assert.deepEqual([steps.next().done, steps.next().done, steps.next().done], [false, false, false]);
  assert.deepEqual(steps.next(), { done: true, value: 3 });
  pace.clock = () => false;
  assert.deepEqual(counting(3).next(), { done: true, value: 3 });
  pace.clock = clock;
});

test('the clock is looked at only when enough was done since', () => {
  const { clock } = pace;
  let looks = 0;
  pace.clock = () => {
    looks += 1;
    return false;
  };
  pace.units = 0;
  for (let at = 0; at < 10; at += 1) {
    pace.units += pace.unitsPerLook / 5;
    pace.isOver();
  }
  pace.clock = clock;
  assert.equal(looks, 2);
});

test('steps are done to their end at once, whatever the clock says', () => {
  const { clock } = pace;
  pace.clock = () => true;
  assert.equal(atOnce(counting(5)), 5);
  pace.clock = clock;
  assert.equal(finish(new Unfinished(counting(5))), 5);
  assert.equal(finish(7), 7);
});
