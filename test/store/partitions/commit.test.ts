import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvariantError } from '../../../src/lib/assert.ts';
import type { LoggedView } from '../../../src/store/change-log/logged-views.ts';
import { ReferenceChanges, readReferrers, referenceText } from '../../../src/store/change-log/references.ts';
import type { ClaimWrite } from '../../../src/store/claims/claim-records.ts';
import { changesKept, readClaimFields } from '../../../src/store/claims/claims.ts';
import type { Suspect } from '../../../src/store/derived/dependents.ts';
import { readIntents, recordIntents } from '../../../src/store/derived/intents.ts';
import { claimField, keys } from '../../../src/store/keys.ts';
import { releaseLease, type TakenLease, takeLease } from '../../../src/store/ownership/lease.ts';
import { commit, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import { IntakeReader, invalidate, outsideCaller } from '../../../src/store/partitions/intake.ts';
import { encodePendingRebuild, readPendingRebuilds } from '../../../src/store/partitions/pending-work.ts';
import { FencedError } from '../../../src/store/redis/redis-errors.ts';
import type { Store } from '../../../src/store/store.ts';
import type { OwnAnnouncement } from '../../../src/store/streams/changes-stream.ts';
import { openStreamSource } from '../../../src/store/streams/shared-streams.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();

async function owned(): Promise<{ store: Store; lease: TakenLease }> {
  const store = await redis.openEmptyStore(2);
  const lease = await takeLease(store, 0, 'worker', 60_000);
  assert.ok(lease !== null);
  return { store, lease };
}

function announcing(parts: Partial<OwnAnnouncement> = {}): OwnAnnouncement {
  return { checkpoint: 0, pendingRebuilds: new Map(), downstream: [], digests: Buffer.alloc(0), ...parts };
}

function changesLength(store: Store): Promise<number> {
  return store.client.xlen(keys.changes(store.partitions.tag(0)));
}

test('commit: a commit stores all writes, moves the checkpoint and announces it with a number', async () => {
  const { store, lease } = await owned();
  const key = `${lease.tag}:views:acme:env`;
  await store.client.hset(key, 'gone', 'x');
  const writes = new PartitionWrites();
  writes.set(key, 'kept', Buffer.from([0, 1, 255]));
  writes.delete(key, 'gone');
  writes.set(key, 'twice', Buffer.from('first'));
  writes.delete(key, 'twice');
  writes.delete(key, 'back');
  writes.set(key, 'back', Buffer.from('again'));
  assert.equal(await commit(store, lease, writes, announcing({ checkpoint: 5 }), 0), 1);
  const stored = await store.client.hgetallBuffer(key);
  assert.deepEqual(Object.keys(stored).sort(), ['back', 'kept']);
  assert.deepEqual([...(stored.kept ?? [])], [0, 1, 255]);
  assert.deepEqual(await store.client.hmget(keys.owner(lease.tag), 'checkpoint', 'commits'), ['5', '1']);
  assert.equal(await changesLength(store), 1);
});

test('commit: a commit of many thousand fields is atomic', async () => {
  const { store, lease } = await owned();
  const writes = new PartitionWrites();
  const key = `${lease.tag}:views:acme:env`;
  for (let field = 0; field < 70_001; field += 1) writes.set(key, `f${field}`, Buffer.from(`v${field}`));
  await commit(store, lease, writes, announcing());
  assert.equal(await store.client.hlen(key), 70_001);
  assert.equal(await store.client.hget(key, 'f70000'), 'v70000');
  const deletes = new PartitionWrites();
  for (let field = 0; field < 70_001; field += 2) deletes.delete(key, `f${field}`);
  await commit(store, lease, deletes, announcing());
  assert.equal(await store.client.hlen(key), 35_000);
});

test('commit: a commit that is sent twice is applied once', async () => {
  const { store, lease } = await owned();
  const send = () => commit(store, lease, new PartitionWrites(), announcing({ checkpoint: 3 }), 0);
  assert.deepEqual(await Promise.all([send(), send()]), [1, 1]);
  assert.equal(await changesLength(store), 1);
  assert.equal(await commit(store, lease, new PartitionWrites(), announcing({ checkpoint: 3 }), 1), 2);
});

test('commit: claims change with a commit, in all partitions, and not with a refused one', async () => {
  const { store, lease } = await owned();
  const scope = { tenant: 'acme', environmentId: 'env' };
  const paths = ['/a', '/b', '/c', '/d', '/e', '/f'];
  const claims = paths.map((path): ClaimWrite => {
    const view = { sourceId: 's', alias: 'page', originId: path };
    const claim = { host: null, kind: 'page' as const, sinceStamp: 1, view, display: path, redirect: null };
    return { action: 'put', scope, field: claimField.url(path), claim };
  });
  const claimed = async () => {
    const found = await readClaimFields(
      store,
      scope,
      paths.map((path) => claimField.url(path)),
    );
    return found.flat().map(({ display }) => display);
  };
  const send = (epoch: number) =>
    commit(store, { ...lease, epoch }, new PartitionWrites(), announcing(), null, { claims });
  await assert.rejects(send(lease.epoch + 1), FencedError);
  assert.deepEqual(await claimed(), []);
  await send(lease.epoch);
  assert.deepEqual(await claimed(), paths);
  const reported = await Promise.all(
    store.partitions.tags.map((tag) => store.client.xlen(keys.changes(tag))),
  );
  assert.equal(
    reported.reduce((sum, count) => sum + count),
    1,
    'only the commit announces them',
  );
});

test('commit: referrers change with a commit, in all partitions, and not with a refused one', async () => {
  const { store, lease } = await owned();
  const scope = { tenant: 'acme', environmentId: 'env' };
  const targets = Array.from({ length: 8 }, (_, at) => ({
    sourceId: 'cms',
    alias: 'card',
    originId: `to:${at}`,
  }));
  const referrer = { sourceId: 'cms', alias: 'page', originId: 'from' };
  const partitions = new Set(targets.map(({ originId }) => store.partitions.ofEntity('cms', originId)));
  assert.equal(partitions.size, 2);
  const send = async (action: 'add' | 'drop', after: number) => {
    const references = new ReferenceChanges();
    for (const target of targets) references[action](scope, referrer, referenceText(referrer, target));
    await commit(store, lease, new PartitionWrites(), announcing(), after, { references });
  };
  const referrers = async () => {
    const found: LoggedView[][] = [];
    for (const target of targets) {
      for await (const views of readReferrers(store, scope, target)) found.push(views);
    }
    return found;
  };
  await assert.rejects(send('add', 5), FencedError);
  assert.deepEqual(await referrers(), Array(8).fill([]));
  await send('add', 0);
  assert.deepEqual(await referrers(), Array(8).fill([referrer]));
  await send('drop', 1);
  assert.deepEqual(await referrers(), Array(8).fill([]));
});

test('commit: an owner whose store was rolled back cannot skip work that is no longer done', async () => {
  const { store, lease } = await owned();
  for (const after of [0, 1, 2]) await commit(store, lease, new PartitionWrites(), announcing(), after);
  await store.client.hset(keys.owner(lease.tag), 'commits', 1, 'checkpoint', 1);
  await assert.rejects(
    commit(store, lease, new PartitionWrites(), announcing({ checkpoint: 9 }), 3),
    FencedError,
  );
  assert.equal(await store.client.hget(keys.owner(lease.tag), 'checkpoint'), '1');
});

test('commit: an incomplete list of digests is an internal error and reaches no reader', async () => {
  const { store, lease } = await owned();
  const torn = announcing({ digests: Buffer.alloc(7) });
  await assert.rejects(commit(store, lease, new PartitionWrites(), torn), InvariantError);
});

test('commit: the stream is trimmed up to the checkpoint and no further', async () => {
  const { store, lease } = await owned();
  for (let entry = 0; entry < 1000; entry += 1) {
    await invalidate(store, outsideCaller, 0, 'acme', [`v|e|a|s|${entry}`]);
  }
  await commit(store, lease, new PartitionWrites(), announcing({ checkpoint: 900 }));
  assert.ok((await store.client.xlen(keys.stream(lease.tag))) <= 100 + 100, 'about 100 entries are left');
  const source = openStreamSource(store);
  const left = await new IntakeReader(source, lease.tag, 900).next(200, 10);
  source.close();
  assert.deepEqual([left[0]?.sequence, left.length], [901, 100]);
});

test('commit: a bounded number of announcements is kept', async () => {
  const { store, lease } = await owned();
  for (let round = 0; round < changesKept * 2; round += 1) {
    await commit(store, lease, new PartitionWrites(), announcing());
  }
  const length = await changesLength(store);
  assert.ok(length >= changesKept && length < changesKept * 2, String(length));
});

test('commit: the last invalidations that a partition sent are stored, per tenant and partition', async () => {
  const { store, lease } = await owned();
  const caused = (tenant: string, partition: number, sequence: number) => ({ tenant, partition, sequence });
  await commit(
    store,
    lease,
    new PartitionWrites(),
    announcing({ downstream: [caused('a', 0, 4), caused('b', 1, 2)] }),
  );
  await commit(store, lease, new PartitionWrites(), announcing({ downstream: [caused('a', 0, 9)] }));
  assert.deepEqual(await store.client.hgetall(keys.downstream(lease.tag)), { 'a:0': '9', 'b:1': '2' });
});

test('commit: the next owner reads the waiting rebuilds unchanged', async () => {
  const { store, lease } = await owned();
  const writes = new PartitionWrites();
  const pending = new Map([
    ['acme|v|e|a|s|1', { first: 3, last: 8, cause: { sourceId: 's', originId: 'x:1' } }],
    ['acme|v|e|a|s|2', { first: 4, last: 4, cause: null }],
  ]);
  for (const [member, rebuild] of pending) {
    writes.set(keys.pendingRebuilds(lease.tag), member, encodePendingRebuild(rebuild));
  }
  await commit(store, lease, writes, announcing());
  assert.deepEqual(await readPendingRebuilds(store, lease.tag), pending);
});

test('commit: the next owner reads intents until a commit deletes them', async () => {
  const { store, lease } = await owned();
  const claim: Suspect = {
    kind: 'claim',
    environmentId: 'env',
    alias: 'page',
    claimKind: 'redirect',
    field: 'u:/a',
    host: 'a.com',
    display: 'https://a.com/a',
  };
  const entry: Suspect = { kind: 'lookup', layoutId: 'l', lookupKey: 'vcity\u001fparent\u001f1' };
  await recordIntents(store, lease, new Map([['1.1', new Map([['acme|s|a|b', [claim, entry]]])]]));
  await releaseLease(store, lease);
  const next = await takeLease(store, 0, 'next', 60_000);
  assert.ok(next !== null);
  assert.deepEqual(
    await readIntents(store, next.tag),
    new Map([['1.1', new Map([['acme|s|a|b', [claim, entry]]])]]),
  );
  const writes = new PartitionWrites();
  writes.delete(keys.intents(next.tag), '1.1');
  await commit(store, next, writes, announcing());
  assert.deepEqual(await readIntents(store, next.tag), new Map());
});
