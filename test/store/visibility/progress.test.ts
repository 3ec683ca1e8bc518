import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { acceptEntities } from '../../../src/store/entities/accept.ts';
import { encodeEntity } from '../../../src/store/entities/entity-record.ts';
import { keys } from '../../../src/store/keys.ts';
import { type TakenLease, takeLease } from '../../../src/store/ownership/lease.ts';
import { commit, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import { invalidate, outsideCaller } from '../../../src/store/partitions/intake.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Announcement } from '../../../src/store/streams/changes-stream.ts';
import { Progress } from '../../../src/store/visibility/progress.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start({ durable: true });
const opened: Progress[] = [];
after(() => {
  for (const progress of opened) progress.close();
});

interface Scene {
  readonly store: Store;
  readonly progress: Progress;
  readonly leases: readonly TakenLease[];
  /** A commit by the owner of a partition. */
  commit(partition: number, parts: Partial<Announcement>): Promise<number>;
  /** True if the version is visible now or soon. */
  isVisible(version: ReadonlyMap<number, number>, tenant?: string): Promise<boolean>;
}

async function scene(partitionCount = 3): Promise<Scene> {
  for (const progress of opened.splice(0)) progress.close();
  const store = await redis.openEmptyStore(partitionCount);
  const progress = await follow(store);
  const leases: TakenLease[] = [];
  for (const partition of store.partitions.tags.keys()) {
    const lease = await takeLease(store, partition, 'worker', 600_000);
    assert.ok(lease !== null);
    leases.push(lease);
  }
  return {
    store,
    progress,
    leases,
    commit: async (partition, parts) => {
      const lease = leases[partition];
      assert.ok(lease !== undefined);
      const announcement = {
        checkpoint: 0,
        pendingRebuilds: new Map(),
        downstream: [],
        digests: Buffer.alloc(0),
        ...parts,
      };
      const number = await commit(store, lease, new PartitionWrites(), announcement);
      await until('the front has seen the commit', () => (progress.commits[partition] ?? 0) >= number);
      return number;
    },
    isVisible: (version, tenant = 'acme') => progress.waitFor(tenant, version, 40),
  };
}

async function follow(store: Store): Promise<Progress> {
  const progress = new Progress(store);
  opened.push(progress);
  progress.start();
  await until('progress is ready', () => progress.ready);
  return progress;
}

test('progress: a write is visible once the checkpoint of its partition has passed it', async () => {
  const { commit, isVisible } = await scene();
  assert.equal(await isVisible(new Map()), true);
  assert.equal(await isVisible(new Map([[0, 0]])), true);
  assert.equal(await isVisible(new Map([[0, 3]])), false);
  await commit(0, { checkpoint: 2 });
  assert.equal(await isVisible(new Map([[0, 3]])), false);
  await commit(1, { checkpoint: 9 });
  assert.equal(await isVisible(new Map([[0, 3]])), false);
  await commit(0, { checkpoint: 3 });
  assert.equal(await isVisible(new Map([[0, 3]])), true);
  assert.equal(
    await isVisible(
      new Map([
        [0, 3],
        [1, 10],
      ]),
    ),
    false,
    'all partitions of the version count',
  );
});

test('progress: a waiting request continues as soon as the commit is there', async () => {
  const { commit, progress } = await scene();
  // A full wait would exceed the timeout of the test.
  const visible = progress.waitFor('acme', new Map([[0, 1]]), 3_600_000);
  await commit(0, { checkpoint: 1 });
  assert.equal(await visible, true);
});

test('progress: a write is not visible before the rebuilds that it caused elsewhere are done', async () => {
  const { commit, isVisible } = await scene();
  await commit(0, { checkpoint: 1, downstream: [{ tenant: 'acme', partition: 1, sequence: 5 }] });
  assert.equal(await isVisible(new Map([[0, 1]])), false, 'the invalidation has not been read');
  await commit(1, { checkpoint: 5, pendingRebuilds: new Map([['acme', 4]]) });
  assert.equal(await isVisible(new Map([[0, 1]])), false, 'a merged invalidation waits');
  await commit(1, { checkpoint: 7, pendingRebuilds: new Map([['acme', 6]]) });
  assert.equal(await isVisible(new Map([[0, 1]])), true, 'the remaining work belongs to later changes');
});

test('progress: rebuilds in the same partition count like any other', async () => {
  const { commit, isVisible } = await scene(1);
  await commit(0, { checkpoint: 1, downstream: [{ tenant: 'acme', partition: 0, sequence: 2 }] });
  assert.equal(await isVisible(new Map([[0, 1]])), false);
  await commit(0, { checkpoint: 2, pendingRebuilds: new Map([['acme', 2]]) });
  assert.equal(await isVisible(new Map([[0, 1]])), false);
  await commit(0, { checkpoint: 2 });
  assert.equal(await isVisible(new Map([[0, 1]])), true);
});

test('progress: the rebuilds of another tenant delay nobody', async () => {
  const { commit, isVisible } = await scene();
  await commit(0, { checkpoint: 1, downstream: [{ tenant: 'other', partition: 1, sequence: 5 }] });
  assert.equal(await isVisible(new Map([[0, 1]]), 'acme'), true);
  assert.equal(await isVisible(new Map([[0, 1]]), 'other'), false);
  await commit(1, { checkpoint: 9, pendingRebuilds: new Map([['acme', 1]]) });
  assert.equal(await isVisible(new Map([[0, 1]]), 'other'), true);
});

test('progress: a front knows an invalidation that was sent before it started', async () => {
  const { commit, store } = await scene();
  await commit(0, { checkpoint: 1, downstream: [{ tenant: 'acme', partition: 2, sequence: 4 }] });
  await commit(2, { checkpoint: 4, pendingRebuilds: new Map([['acme', 3]]) });
  const late = await follow(store);
  assert.equal(await late.waitFor('acme', new Map([[0, 1]]), 40), false);
  await commit(2, { checkpoint: 4 });
  assert.equal(await late.waitFor('acme', new Map([[0, 1]]), 5000), true);
});

test('progress: a front that missed announcements loads the state and notifies its listeners', async () => {
  const { store, progress, isVisible, leases } = await scene();
  const received: (readonly string[] | null)[] = [];
  progress.onChange((partition, digests) => {
    if (partition === 0) received.push(digests);
  });
  const tag = store.partitions.tag(0);
  // As if the front had missed more announcements than are kept: the stream begins after a gap.
  const many = { checkpoint: 8, pendingRebuilds: new Map(), downstream: [], digests: Buffer.alloc(0) };
  await store.client.hincrby(keys.clock(tag), 'changes', 1000);
  const lease = leases[0];
  assert.ok(lease !== undefined);
  await commit(store, lease, new PartitionWrites(), many);
  await until('the listener is notified of the gap', () => received.includes(null));
  assert.equal(await isVisible(new Map([[0, 8]])), true);
});

test('progress: digests of changes reach the listeners, from commits and from claims', async () => {
  const { commit, progress } = await scene();
  const received: string[] = [];
  progress.onChange((_, digests) => received.push(...(digests ?? [])));
  await commit(0, { digests: Buffer.from('12345678abcdefgh') });
  assert.deepEqual(received, ['12345678', 'abcdefgh']);
});

test('progress: a front waits until a killed Redis is back, and sees what was committed meanwhile', async () => {
  const { store, isVisible, leases } = await scene();
  await redis.killServer();
  assert.equal(await isVisible(new Map([[0, 5]])), false);
  await redis.startServer();
  await until('the store is back', async () => (await store.client.ping()) === 'PONG');
  const lease = leases[0];
  assert.ok(lease !== undefined);
  const announcement = {
    checkpoint: 5,
    pendingRebuilds: new Map(),
    downstream: [],
    digests: Buffer.alloc(0),
  };
  await commit(store, lease, new PartitionWrites(), announcement);
  await until('the commit is seen', () => isVisible(new Map([[0, 5]])));
});

test('progress: the backlog is what was announced and is not yet processed', async () => {
  const { store, progress, commit } = await scene(1);
  const entity = { originId: '1', type: 't', url: null, originParentId: null, redirects: [], properties: {} };
  const { version } = await acceptEntities(store, {
    tenant: 'acme',
    sourceId: 's',
    force: false,
    entities: [encodeEntity(entity)],
  });
  assert.deepEqual(progress.backlogs(), [0]);
  progress.recordWritten('acme', version);
  assert.deepEqual(progress.backlogs(), [1]);
  await invalidate(store, outsideCaller, 0, 'acme', ['v|e|a|s|1']);
  const other = await follow(store);
  assert.deepEqual(other.backlogs(), [2], 'a new front counts what others wrote');
  await commit(0, { checkpoint: 2 });
  await until('both have seen it', () => progress.backlogs()[0] === 0 && other.backlogs()[0] === 0);
});

test('progress: the version of a write covers what its tenant wrote earlier and is not yet visible', async () => {
  const { progress, commit, isVisible } = await scene();
  progress.recordWritten('globex', new Map([[1, 9]]));
  progress.recordWritten('acme', new Map([[0, 1]]));
  const last = progress.recordWritten('acme', new Map([[2, 1]]));
  await commit(2, { checkpoint: 1 });
  assert.equal(await isVisible(last), false);
  await commit(0, { checkpoint: 1, downstream: [{ tenant: 'acme', partition: 1, sequence: 5 }] });
  assert.equal(await isVisible(last), false, 'what the first one caused is not rebuilt');
  assert.deepEqual([...progress.recordWritten('acme', new Map()).keys()], [0]);
  await commit(1, { checkpoint: 5 });
  assert.equal(await isVisible(last), true);
  assert.deepEqual(
    [...progress.recordWritten('acme', new Map()).keys()],
    [],
    'it does not have to be announced again',
  );
});

test('progress: a write is not visible while one of its outputs is deferred, also to a front that starts then', async () => {
  const { commit, isVisible, store } = await scene();
  await commit(0, { checkpoint: 5, deferred: new Map([['acme', 4]]) });
  assert.equal(await isVisible(new Map([[0, 3]])), true, 'what was processed before is built');
  assert.equal(await isVisible(new Map([[0, 4]])), false);
  assert.equal(await isVisible(new Map([[0, 5]]), 'other'), true);
  const late = await follow(store);
  assert.equal(await late.waitFor('acme', new Map([[0, 5]]), 40), false);
  await commit(0, { checkpoint: 6 });
  assert.equal(await isVisible(new Map([[0, 5]])), true);
});

test('progress: a rebuild that a write caused elsewhere counts while it is deferred', async () => {
  const { commit, isVisible } = await scene();
  await commit(0, { checkpoint: 1, downstream: [{ tenant: 'acme', partition: 1, sequence: 5 }] });
  await commit(1, { checkpoint: 9, deferred: new Map([['acme', 5]]) });
  assert.equal(await isVisible(new Map([[0, 1]])), false);
  await commit(1, { checkpoint: 9 });
  assert.equal(await isVisible(new Map([[0, 1]])), true);
});
