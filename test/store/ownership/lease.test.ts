import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeClaims } from '../../../src/store/claims/claims.ts';
import { recordIntents } from '../../../src/store/derived/intents.ts';
import { registerDependents, touchKeys } from '../../../src/store/derived/lookups.ts';
import { claimField, keys } from '../../../src/store/keys.ts';
import {
  fenceOlderOwners,
  type Lease,
  releaseLease,
  renewLease,
  type TakenLease,
  takeLease,
} from '../../../src/store/ownership/lease.ts';
import { readOwners } from '../../../src/store/ownership/owners.ts';
import { commit, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import { invalidate, outsideCaller } from '../../../src/store/partitions/intake.ts';
import { FencedError } from '../../../src/store/redis/redis-errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';
import { redisTimeMs } from '../../support/redis-time.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();
const long = 60_000;

async function take(store: Store, workerId: string, leaseMs = long, partition = 0): Promise<TakenLease> {
  const lease = await takeLease(store, partition, workerId, leaseMs);
  assert.ok(lease !== null, `${workerId} takes partition ${partition}`);
  return lease;
}

/** Expires a lease. */
async function endNow(store: Store, { tag }: Lease): Promise<void> {
  await store.client.hset(keys.owner(tag), 'leaseUntilMs', (await redisTimeMs(store.client)) - 1);
}

test('lease: a partition has one owner at a time, which everyone can see', async () => {
  const store = await redis.openEmptyStore(2);
  const lease = await take(store, 'a');
  assert.equal(lease.epoch, 1);
  assert.equal(await takeLease(store, 0, 'b', long), null);
  const [owned, free] = await readOwners(store);
  assert.equal(owned?.workerId, 'a');
  assert.ok((owned?.leaseUntilMs ?? 0) > (await redisTimeMs(store.client)) + long - 5000);
  assert.equal(free?.workerId, null);
});

test('lease: of many workers that try to take a partition at the same time, one gets it', async () => {
  const store = await redis.openEmptyStore(1);
  const ids = Array.from({ length: 20 }, (_, index) => `w${index}`);
  const leases = await Promise.all(ids.map((id) => takeLease(store, 0, id, long)));
  assert.equal(leases.filter((lease) => lease !== null).length, 1);
});

test('lease: a lease expires by the clock of Redis, and the next owner has a higher epoch', async () => {
  const store = await redis.openEmptyStore(1);
  await take(store, 'a', 60);
  assert.equal(await takeLease(store, 0, 'b', long), null);
  let next: TakenLease | null = null;
  await until('the lease expires', async () => {
    next = await takeLease(store, 0, 'b', long);
    return next !== null;
  });
  assert.equal((next as TakenLease | null)?.epoch, 2);
});

test('lease: a lease that was not renewed can be taken even if the clock of Redis says it is valid; the owner is fenced', async () => {
  const store = await redis.openEmptyStore(1);
  const first = await take(store, 'a');
  const owner = keys.owner(first.tag);
  // The clock was set back by an hour after the renewal.
  await store.client.hset(owner, 'leaseUntilMs', (await redisTimeMs(store.client)) + 60 * long);
  const [seen] = await readOwners(store);
  assert.ok(seen?.holds);
  assert.equal(await takeLease(store, 0, 'b', long), null);
  assert.equal(await takeLease(store, 0, 'b', long, { ...seen, epoch: seen.epoch - 1 }), null);
  const second = await takeLease(store, 0, 'b', long, seen);
  assert.equal(second?.epoch, 2);
  assert.equal(await renewLease(store, first, long), false);
  assert.equal(await takeLease(store, 0, 'c', long, seen), null, 'what was observed is outdated');
});

test('lease: a renewal invalidates what others observed of the lease, whatever the clock of Redis does', async () => {
  const store = await redis.openEmptyStore(1);
  const lease = await take(store, 'a');
  for (const stepMs of [60 * long, -60 * long]) {
    await store.client.hset(
      keys.owner(lease.tag),
      'leaseUntilMs',
      (await redisTimeMs(store.client)) + stepMs,
    );
    const [seen] = await readOwners(store);
    assert.equal(await renewLease(store, lease, long), true);
    assert.equal(await takeLease(store, 0, 'b', long, seen), null);
  }
});

test('lease: renewing extends a lease; a lost lease cannot be renewed', async () => {
  const store = await redis.openEmptyStore(1);
  const lease = await take(store, 'a', long / 2);
  assert.equal(await renewLease(store, lease, long), true);
  const [renewed] = await readOwners(store);
  assert.ok((renewed?.leaseUntilMs ?? 0) > (await redisTimeMs(store.client)) + long - 5000);
  assert.equal(await takeLease(store, 0, 'b', long), null);
  await releaseLease(store, lease);
  await take(store, 'b');
  assert.equal(await renewLease(store, lease, long), false);
  const [owner] = await readOwners(store);
  assert.equal(owner?.workerId, 'b');
});

test('lease: an expired lease that nobody took can still be renewed', async () => {
  const store = await redis.openEmptyStore(1);
  const lease = await take(store, 'a');
  await endNow(store, lease);
  assert.equal(await renewLease(store, lease, long), true);
  assert.equal(await takeLease(store, 0, 'b', long), null);
});

test('lease: a released partition is free immediately; a stale release frees nothing', async () => {
  const store = await redis.openEmptyStore(1);
  const first = await take(store, 'a');
  await releaseLease(store, first);
  const second = await take(store, 'a');
  assert.equal(second.epoch, 2);
  await releaseLease(store, first);
  assert.equal(await takeLease(store, 0, 'b', long), null);
});

test('lease: a take call that is sent twice takes once', async () => {
  const store = await redis.openEmptyStore(1);
  assert.deepEqual(await take(store, 'a'), await take(store, 'a'));
});

test('lease: a new owner continues from the checkpoint and the commits of the previous one', async () => {
  const store = await redis.openEmptyStore(1);
  const first = await take(store, 'a');
  const announcement = {
    checkpoint: 17,
    pendingRebuilds: new Map(),
    downstream: [],
    digests: Buffer.alloc(0),
  };
  await commit(store, first, new PartitionWrites(), announcement);
  await commit(store, first, new PartitionWrites(), announcement);
  await releaseLease(store, first);
  const second = await take(store, 'b');
  assert.deepEqual([second.checkpoint, second.commits], [17, 2]);
});

const scope = { tenant: 'acme', environmentId: 'env' };

function effectsOf(
  store: Store,
  lease: Pick<Lease, 'partition' | 'epoch'>,
): Record<string, () => Promise<unknown>> {
  const field = claimField.handle('news');
  const view = { sourceId: 's', alias: 'page', originId: '1' };
  const claim = {
    host: null,
    kind: 'page' as const,
    sinceStamp: 1,
    view,
    display: 'news',
    redirect: null,
  };
  const key = { tenant: 'acme', sourceId: 's', lookupKey: 'k' };
  return {
    claims: () => writeClaims(store, lease, [{ action: 'put', scope, field, claim }]),
    invalidations: () => invalidate(store, lease, 1, 'acme', ['v|env|page|s|1']),
    registrations: () => registerDependents(store, lease, [{ ...key, action: 'add', member: 'm' }]),
    'index writes': async () => {
      const write = { ...key, layoutId: 'l', originId: '1', projection: '[]' };
      for await (const _ of touchKeys(store, lease, [write], [key]));
    },
  };
}

test('lease: after a takeover every effect of the old owner is refused, in every partition', async () => {
  const store = await redis.openEmptyStore(4);
  const old = await take(store, 'a');
  assert.equal(await fenceOlderOwners(store, old), true);
  for (const [name, effect] of Object.entries(effectsOf(store, old))) {
    await assert.doesNotReject(effect, name);
  }
  await endNow(store, old);
  const next = await take(store, 'b');
  assert.equal(await fenceOlderOwners(store, next), true);
  const before = await store.client.dbsize();
  for (const [name, effect] of Object.entries(effectsOf(store, old))) {
    await assert.rejects(effect, FencedError, name);
  }
  const announcement = {
    checkpoint: 1,
    pendingRebuilds: new Map(),
    downstream: [],
    digests: Buffer.alloc(0),
  };
  const writes = new PartitionWrites();
  writes.set(`${old.tag}:views:x:y`, 'f', Buffer.from('stale'));
  await assert.rejects(commit(store, old, writes, announcement), FencedError);
  await assert.rejects(recordIntents(store, old, new Map([['f', new Map()]])), FencedError);
  assert.equal(await store.client.dbsize(), before, 'nothing was written');
  for (const [name, effect] of Object.entries(effectsOf(store, next))) {
    await assert.doesNotReject(effect, name);
  }
});

test('lease: an owner that fences after a newer one gets an error', async () => {
  const store = await redis.openEmptyStore(4);
  const old = await take(store, 'a');
  await releaseLease(store, old);
  const next = await take(store, 'b');
  assert.equal(await fenceOlderOwners(store, next), true);
  assert.equal(await fenceOlderOwners(store, old), false);
  assert.equal(await fenceOlderOwners(store, next), true, 'the newer owner can fence again');
});

test('lease: a fence of one partition does not affect the owners of the others', async () => {
  const store = await redis.openEmptyStore(4);
  const other = await take(store, 'a', long, 1);
  const lease = await take(store, 'b', long, 0);
  await fenceOlderOwners(store, { ...lease, epoch: 50 });
  await assert.doesNotReject(invalidate(store, other, 2, 'acme', ['v|e|a|s|1']));
  await assert.doesNotReject(invalidate(store, outsideCaller, 2, 'acme', ['v|e|a|s|1']));
});

test('lease: the fence is stored in each partition, so that it applies in every slot of a cluster', async () => {
  const store = await redis.openEmptyStore(3);
  const lease = await take(store, 'a', long, 2);
  await fenceOlderOwners(store, lease);
  for (const tag of store.partitions.tags) {
    assert.deepEqual(await store.client.hgetall(keys.fence(tag)), { 2: '1' });
  }
});
