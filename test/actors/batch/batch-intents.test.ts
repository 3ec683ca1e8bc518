import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Intents } from '../../../src/actors/batch/batch-intents.ts';
import type { Suspect } from '../../../src/store/derived/dependents.ts';
import { readIntents } from '../../../src/store/derived/intents.ts';
import { keys } from '../../../src/store/keys.ts';
import {
  fenceOlderOwners,
  releaseLease,
  type TakenLease,
  takeLease,
} from '../../../src/store/ownership/lease.ts';
import { commit, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();

function owner(originId: string) {
  return { tenant: 'acme', sourceId: 's', originId };
}

function about(lookupKey: string): Suspect[] {
  return [{ kind: 'lookup', layoutId: 'l', lookupKey }];
}

async function owned(store: Store): Promise<TakenLease> {
  const lease = await takeLease(store, 0, 'worker', 60_000);
  assert.ok(lease !== null);
  await fenceOlderOwners(store, lease);
  return lease;
}

/** Commits a batch of these entities. */
async function commitOf(store: Store, lease: TakenLease, intents: Intents, originIds: string[]) {
  const writes = new PartitionWrites();
  for (const field of intents.settledBy(originIds.map(owner))) {
    writes.delete(keys.intents(lease.tag), field);
  }
  const announcement = {
    checkpoint: 0,
    pendingRebuilds: new Map(),
    downstream: [],
    digests: Buffer.alloc(0),
  };
  await commit(store, lease, writes, announcement);
  intents.settle();
}

test('batch intents: intents are committed with their batch, and its own entities are not suspects', async () => {
  const store = await redis.openEmptyStore(1);
  const lease = await owned(store);
  const intents = await Intents.load(store, lease);
  intents.begin();
  await intents.note([[owner('1'), about('a')]]);
  await intents.note([
    [owner('1'), about('b')],
    [owner('2'), []],
  ]);
  assert.equal(intents.of(owner('1')), null);
  assert.equal((await readIntents(store, lease.tag)).size, 2);
  await commitOf(store, lease, intents, ['1', '2']);
  assert.equal((await readIntents(store, lease.tag)).size, 0);
});

test('batch intents: an intent that was left behind stays open for each entity until all of them are settled', async () => {
  const store = await redis.openEmptyStore(1);
  const before = await owned(store);
  const crashed = await Intents.load(store, before);
  crashed.begin();
  await crashed.note([
    [owner('1'), about('a')],
    [owner('2'), about('b')],
  ]);
  await releaseLease(store, before);
  const lease = await owned(store);
  const intents = await Intents.load(store, lease);
  assert.deepEqual(intents.of(owner('1')), about('a'));
  assert.deepEqual(intents.of(owner('3')), null);
  intents.begin();
  await intents.note([[owner('1'), about('c')]]);
  await commitOf(store, lease, intents, ['1']);
  assert.equal(intents.of(owner('1')), null, 'settled, though its intent still exists');
  assert.deepEqual(intents.of(owner('2')), about('b'));
  assert.equal((await readIntents(store, lease.tag)).size, 1);
  intents.begin();
  await commitOf(store, lease, intents, ['2', '3']);
  assert.equal((await readIntents(store, lease.tag)).size, 0);
});

test('batch intents: a repeated batch checks what it recorded the first time', async () => {
  const store = await redis.openEmptyStore(1);
  const lease = await owned(store);
  const intents = await Intents.load(store, lease);
  intents.begin();
  await intents.note([[owner('1'), about('a')]]);
  intents.begin();
  assert.deepEqual(intents.of(owner('1')), about('a'));
  await intents.note([[owner('1'), about('b')]]);
  await commitOf(store, lease, intents, ['1']);
  assert.equal((await readIntents(store, lease.tag)).size, 0);
});
