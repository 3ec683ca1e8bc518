/** Trimming the log of a removed environment. A reader misses no changes if the environment returns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogReader } from '../../../src/store/change-log/entries.ts';
import { ReportedViews } from '../../../src/store/change-log/reported-views.ts';
import { forgetLogs } from '../../../src/store/change-log/trim.ts';
import { forgetTypes, typesIn } from '../../../src/store/entities/directory.ts';
import { keys } from '../../../src/store/keys.ts';
import { type TakenLease, takeLease } from '../../../src/store/ownership/lease.ts';
import { commit, type ListChange, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const scope = { tenant: 'acme', environmentId: 'env' };
const announcement = { checkpoint: 0, pendingRebuilds: new Map(), downstream: [], digests: Buffer.alloc(0) };
const view = (alias: string) => ({ sourceId: 'src', alias, originId: 'x' });
const was = { type: 'page', sourceGroup: 'cms', claims: [] };

async function owned(): Promise<{ store: Store; lease: TakenLease }> {
  const store = await redis.openEmptyStore(1);
  const lease = await takeLease(store, 0, 'worker', 60_000);
  assert.ok(lease !== null);
  return { store, lease };
}

async function report(
  store: Store,
  lease: TakenLease,
  note: (reported: ReportedViews) => void,
): Promise<void> {
  const reported = new ReportedViews();
  note(reported);
  await commit(store, lease, new PartitionWrites(), announcement, null, { reported: reported });
}

async function readAll(reader: LogReader) {
  const [portion] = await reader.read(
    [{ partition: 0, position: 0, tracesFrom: 0, until: Number.MAX_SAFE_INTEGER }],
    100,
  );
  assert.ok(portion !== undefined);
  const reported = portion.entries.map(({ subject }) => subject.kind === 'view' && subject.view.alias);
  return { reported, horizon: portion.horizon, sequences: portion.entries.map(({ sequence }) => sequence) };
}

test('trim: a removed environment keeps only its horizon, and can return', async () => {
  const { store, lease } = await owned();
  const reader = new LogReader(store, scope);
  await report(store, lease, (reported) => reported.changed(scope, view('first')));
  await report(store, lease, (reported) => reported.removed(scope, view('first'), was));
  const before = await readAll(reader);
  assert.deepEqual([before.reported, before.horizon], [['first'], 0]);
  await forgetLogs(store, ({ tenant }) => tenant === 'acme');
  assert.deepEqual(await store.client.keys('*:acme:*'), []);
  assert.deepEqual(await readAll(reader), { reported: [], horizon: before.sequences[0], sequences: [] });
  await report(store, lease, (reported) => reported.changed(scope, view('second')));
  assert.deepEqual((await readAll(reader)).reported, ['second']);
});

test('trim: an environment that still exists, or still has views, loses nothing', async () => {
  const { store, lease } = await owned();
  const other = { tenant: 'other', environmentId: 'env' };
  for (const each of [scope, other]) {
    await report(store, lease, (reported) => {
      reported.changed(each, view('stays'));
      reported.changed(each, view('goes'));
    });
    await report(store, lease, (reported) => reported.removed(each, view('goes'), was));
  }
  await report(store, lease, (reported) => reported.removed(other, view('stays'), was));
  await forgetLogs(store, ({ tenant }) => tenant === 'acme');
  assert.deepEqual((await readAll(new LogReader(store, scope))).reported, ['stays', 'goes']);
  assert.deepEqual((await readAll(new LogReader(store, other))).reported, ['goes', 'stays']);
});

test('trim: types without entities are removed', async () => {
  const { store, lease } = await owned();
  const { tag } = lease;
  const list = async (change: ListChange) => {
    const writes = new PartitionWrites();
    writes.list(keys.directory(tag, 'acme', 'src', 'post'), 'x', change);
    await commit(store, lease, writes, announcement);
  };
  const source = { tenant: 'acme', sourceId: 'src' };
  await store.client.hset(keys.entityTypes(tag, 'acme', 'src'), { page: '1', post: '1' });
  await list('new');
  await forgetTypes(store, tag, source);
  assert.deepEqual(await typesIn(store, tag, source), ['post']);
  await list('removed');
  await forgetTypes(store, tag, source);
  assert.equal(await store.client.exists(keys.entityTypes(tag, 'acme', 'src')), 0);
});
