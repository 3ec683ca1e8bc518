import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { changedItems, packItemNames } from '../../../src/store/derived/items.ts';
import { keys } from '../../../src/store/keys.ts';
import { type TakenLease, takeLease } from '../../../src/store/ownership/lease.ts';
import { commit, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import { StoreUnavailableError } from '../../../src/store/redis/redis-errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { ItemChangesFollower, UnnamedItemsError } from '../../../src/store/streams/changes-stream.ts';
import { openStreamSource } from '../../../src/store/streams/shared-streams.ts';
import { StreamGapError } from '../../../src/store/streams/stream.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();
const scope = { tenant: 'acme', environmentId: 'env' };

class Followed {
  readonly reported: string[] = [];
  readonly lost: unknown[] = [];
  /** Errors that the next calls fail with. */
  readonly errors: Error[] = [];

  private constructor(
    readonly store: Store,
    private readonly lease: TakenLease,
  ) {}

  static async start(context: TestContext): Promise<Followed> {
    const store = await redis.openEmptyStore(1);
    const lease = await takeLease(store, 0, 'worker', 60_000);
    assert.ok(lease !== null);
    const followed = new Followed(store, lease);
    const source = openStreamSource(store);
    const follower = new ItemChangesFollower(store, source, 0, {
      onGap: async () => {
        followed.reported.push('all');
      },
      onCommits: async (_, { number, names }) => {
        const error = followed.errors.shift();
        if (error !== undefined) throw error;
        const originIds = changedItems(names).flatMap((changed) => [...changed.originIds]);
        followed.reported.push(`${number}: ${originIds.join()}`);
      },
      onLost: (_, why) => followed.lost.push(why),
    });
    void follower.run();
    context.after(() => {
      follower.close();
      source.close();
    });
    await until('it follows', () => followed.reported.length > 0);
    return followed;
  }

  /** @param originId of the item that changes; null: the owner names none */
  commit(originId: string | null): Promise<number> {
    const change = { scope, index: 'schema:things', sourceId: 's', originId: originId ?? '', item: null };
    const named = originId === null ? {} : { itemNames: packItemNames([change]) };
    const reported = { checkpoint: 0, pendingRebuilds: new Map(), downstream: [], digests: Buffer.alloc(0) };
    return commit(this.store, this.lease, new PartitionWrites(), { ...reported, ...named });
  }

  async until(...reported: string[]): Promise<void> {
    await until(reported.join(), () => this.reported.join() === reported.join());
  }
}

test('item changes: a follower that closes immediately is not asked to read all items', async () => {
  const store = await redis.openEmptyStore(1);
  const source = openStreamSource(store);
  const reported: string[] = [];
  const follower = new ItemChangesFollower(store, source, 0, {
    onGap: async () => void reported.push('all'),
    onCommits: async () => {},
    onLost: () => {},
  });
  const following = follower.run();
  follower.close();
  await following;
  source.close();
  assert.deepEqual(reported, []);
});

test('item changes: everything is read once, and then only what each commit changed', async (context) => {
  const followed = await Followed.start(context);
  await followed.commit('a');
  await followed.until('all', '1: a');
  await followed.commit('b');
  await followed.until('all', '1: a', '2: b');
});

test('item changes: a commit that could not be applied because Redis was unavailable is delivered again', async (context) => {
  const followed = await Followed.start(context);
  followed.errors.push(new StoreUnavailableError('away'), new StoreUnavailableError('away'));
  await followed.commit('a');
  await followed.until('all', '1: a');
  assert.deepEqual(followed.lost, []);
});

test('item changes: after any other error, and after a gap, everything is read again', async (context) => {
  const followed = await Followed.start(context);
  followed.errors.push(new TypeError('a bug'));
  await followed.commit('a');
  await followed.until('all', 'all');
  const { store } = followed;
  const tag = store.partitions.tag(0);
  await store.client.hset(keys.clock(tag), 'changes', 7);
  await followed.commit('b');
  await followed.until('all', 'all', 'all');
  await followed.commit('c');
  await followed.until('all', 'all', 'all', '3: c');
  assert.ok(followed.lost[0] instanceof TypeError && followed.lost[1] instanceof StreamGapError);
});

test('item changes: an owner that names no items is reported', async (context) => {
  const followed = await Followed.start(context);
  await followed.commit(null);
  await until('it is reported', () => followed.lost.length > 0);
  assert.ok(followed.lost[0] instanceof UnnamedItemsError);
  assert.match(String(followed.lost[0]), /SHARD_COPIES must be the same for all workers/);
});
