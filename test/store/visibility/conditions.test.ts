import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Conditions } from '../../../src/store/visibility/progress.ts';

test('conditions: a condition that already holds is met immediately', async () => {
  assert.equal(await new Conditions().wait(() => true, 0), true);
});

test('conditions: a condition is checked on each message, and no longer once it is met', async () => {
  const conditions = new Conditions();
  let looks = 0;
  const met = conditions.wait(() => {
    looks += 1;
    return looks === 3;
  }, 60_000);
  conditions.check();
  conditions.check();
  assert.equal(await met, true);
  conditions.check();
  assert.equal(looks, 3);
});

test('conditions: a condition that is not met in time is given up', async () => {
  const conditions = new Conditions();
  let looks = 0;
  const wait = () => {
    looks += 1;
    return false;
  };
  assert.equal(await conditions.wait(wait, 1), false);
  conditions.check();
  assert.equal(looks, 1);
});
