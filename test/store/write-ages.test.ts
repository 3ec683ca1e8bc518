import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WriteAges } from '../../src/store/write-ages.ts';

test('the oldest write that is not done says how far the workers are behind', () => {
  const checkpoints = [0, 0];
  const ages = new WriteAges((partition) => checkpoints[partition] ?? 0);
  assert.equal(ages.oldestMs(5), 0, 'nothing was written');
  ages.note(
    new Map([
      [0, 1],
      [1, 7],
    ]),
    10,
  );
  ages.note(new Map([[0, 2]]), 100);
  assert.equal(ages.oldestMs(110), 100);
  checkpoints[0] = 2;
  assert.equal(ages.oldestMs(120), 110, 'one partition alone is not all of a write');
  checkpoints[1] = 6;
  assert.equal(ages.oldestMs(130), 120);
  checkpoints[1] = 7;
  assert.equal(ages.oldestMs(140), 0);
});

test('nobody waits for workers that are away', () => {
  let checkpoint = 0;
  const ages = new WriteAges(() => checkpoint);
  for (const sequence of [1, 2, 3]) ages.note(new Map([[0, sequence]]), sequence * 1_000);
  assert.equal(ages.oldestMs(3_500), 2_500);
  assert.equal(ages.oldestMs(4_500), 0, 'nothing was done since the first write');
  checkpoint = 1;
  assert.equal(ages.oldestMs(5_000), 3_000, 'they are back');
  assert.equal(ages.oldestMs(8_500), 0, 'and away again');
});

test('workers that are away cost a bounded number of writes that are remembered', () => {
  let checkpoint = 0;
  const ages = new WriteAges(() => checkpoint);
  for (let at = 1; at <= 100_000; at += 1) ages.note(new Map([[0, at]]), at * 1000);
  checkpoint = 399;
  assert.equal(ages.oldestMs(2e8), 2e8 - 400_000, 'the oldest are remembered');
  checkpoint = 400;
  assert.equal(ages.oldestMs(2e8), 0);
});
