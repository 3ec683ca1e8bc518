import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeaseWatch } from '../../../src/actors/ownership/assignment.ts';
import type { PartitionOwner } from '../../../src/store/ownership/owners.ts';

const leaseMs = 1_000;

function owner(change: Partial<PartitionOwner> = {}): PartitionOwner {
  return { workerId: 'a', holds: true, leaseUntilMs: 9_000, epoch: 3, checkpoint: 0, clockMs: 0, ...change };
}

test('lease watch: a lease that is unchanged for more than a lease time was not renewed', () => {
  const watch = new LeaseWatch(leaseMs);
  assert.equal(watch.observe([owner(), owner()], 0, 100).size, 0);
  assert.equal(watch.observe([owner(), owner({ leaseUntilMs: 9_400 })], 500, 510).size, 0);
  assert.equal(
    watch.observe([owner(), owner({ leaseUntilMs: 9_400 })], 1_100, 1_110).size,
    0,
    'just as long',
  );
  const unrenewed = watch.observe([owner(), owner({ leaseUntilMs: 9_400 })], 1_101, 1_110);
  assert.deepEqual([...unrenewed.keys()], [0]);
  assert.equal(unrenewed.get(0)?.leaseUntilMs, 9_000);
});

test('lease watch: the time between request and reply counts in favor of the owner', () => {
  const watch = new LeaseWatch(leaseMs);
  watch.observe([owner()], 0, 2_000);
  // Both replies may be of the same moment.
  assert.equal(watch.observe([owner()], 2_001, 4_000).size, 0);
  assert.equal(watch.observe([owner()], 3_001, 4_000).size, 1);
});

test('lease watch: another epoch, or a time without an owner, restarts the wait', () => {
  const watch = new LeaseWatch(leaseMs);
  watch.observe([owner()], 0, 0);
  assert.equal(watch.observe([owner({ epoch: 4 })], 5_000, 5_000).size, 0);
  assert.equal(watch.observe([owner({ epoch: 4, holds: false })], 9_000, 9_000).size, 0);
  assert.equal(watch.observe([owner({ epoch: 4 })], 9_500, 9_500).size, 0);
  assert.equal(watch.observe([owner({ epoch: 4 })], 10_501, 10_501).size, 1);
});
