import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Conditions } from '../../../src/store/visibility/progress.ts';

test('a condition that holds already is met at once', async () => {
  assert.equal(await new Conditions().wait(() => true, 0), true);
});

test('a condition is looked at whenever something was heard, and no more once it is met', async () => {
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

test('a condition that is not met in time is given up', async () => {
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
