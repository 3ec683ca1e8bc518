import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScheduleChange } from '../../src/actors/batch/batch-changes.ts';
import { Schedule } from '../../src/actors/partition-schedule.ts';
import { scheduleText } from '../../src/store/entities/entity-schedule.ts';
import { keys } from '../../src/store/keys.ts';
import { type TakenLease, takeLease } from '../../src/store/ownership/lease.ts';
import { commit, PartitionWrites } from '../../src/store/partitions/commit.ts';
import type { Store } from '../../src/store/store.ts';
import { Dice } from '../support/dice.ts';
import { TestRedis } from '../support/redis.ts';

const redis = await TestRedis.start();
const announcement = { checkpoint: 0, pendingRebuilds: new Map(), downstream: [], digests: Buffer.alloc(0) };
const sourceIds = ['a', 'b', 'c'] as const;

/** The naive schedule: the next time of each entity, compared with the schedule of an owner with the same commits. */
class Pair {
  readonly naive = new Map<string, number>();
  schedule: Schedule;

  private constructor(
    private readonly store: Store,
    private readonly lease: TakenLease,
  ) {
    this.schedule = new Schedule(store, lease.tag);
  }

  static async open(): Promise<Pair> {
    const store = await redis.openEmptyStore(1);
    const lease = await takeLease(store, 0, 'worker', 60_000);
    assert.ok(lease !== null);
    return new Pair(store, lease);
  }

  /** As when another owner takes over. */
  async reload(): Promise<void> {
    this.schedule = new Schedule(this.store, this.lease.tag);
    await this.schedule.load();
  }

  /** Commits the next time of entities; null: none. */
  async move(moves: readonly (readonly [name: string, atMs: number | null])[]): Promise<void> {
    const writes = new PartitionWrites();
    const changes: ScheduleChange[] = [];
    for (const [name, atMs] of new Map(moves)) {
      const [sourceId = '', originId = ''] = name.split(':');
      const list = keys.schedule(this.lease.tag, 'acme', sourceId);
      const beforeMs = this.naive.get(name);
      const put = (momentMs: number, waits: boolean) => {
        writes.list(list, scheduleText({ atMs: momentMs, originId }), waits ? 'kept' : 'removed');
        changes.push({ tenant: 'acme', sourceId, atMs: momentMs, waits });
      };
      if (beforeMs === atMs) continue;
      if (beforeMs !== undefined) put(beforeMs, false);
      if (atMs === null) this.naive.delete(name);
      else {
        put(atMs, true);
        this.naive.set(name, atMs);
        writes.set(keys.scheduledSources(this.lease.tag), `acme|${sourceId}`, Buffer.from('1'));
      }
    }
    await commit(this.store, this.lease, writes, announcement);
    this.schedule.settle(changes);
  }

  dueAt(nowMs: number): string[] {
    return [...this.naive].filter(([, atMs]) => atMs <= nowMs).map(([name]) => name);
  }

  async take(nowMs: number, limit: number): Promise<string[]> {
    const works = await this.schedule.takeDue(nowMs, limit);
    assert.ok(works.length <= limit);
    assert.ok(new Set(works.map(({ sourceId }) => sourceId)).size <= 1, 'one source at a time');
    return works.map(({ sourceId, originId }) => `${sourceId}:${originId}`);
  }
}

for (const seed of [1, 2, 3, 4]) {
  test(`partition schedule: returns what is due, like a naive one, also if a turn moves nothing (seed ${seed})`, async () => {
    const dice = new Dice(seed);
    const pair = await Pair.open();
    let nowMs = 1000;
    const name = () => `${dice.of(sourceIds)}:e${dice.below(30)}`;
    const moment = () => (dice.chance(20) ? null : nowMs - 5 + dice.below(60));
    for (let step = 0; step < 250; step += 1) {
      const lot = dice.below(100);
      if (lot < 40) {
        const count = 1 + dice.below(12);
        await pair.move(Array.from({ length: count }, () => [name(), moment()] as const));
      } else if (lot < 50) nowMs += dice.below(40) - 15;
      else if (lot < 55) await pair.reload();
      else {
        const due = pair.dueAt(nowMs);
        const taken = await pair.take(nowMs, 1 + dice.below(8));
        for (const one of taken) assert.ok(due.includes(one), `${one} is due at ${nowMs}`);
        // A commit may be missing, and after the clock was set back a turn may find that nothing is due.
        const moved = taken.filter(() => dice.chance(70));
        await pair.move(moved.map((one) => [one, dice.chance(30) ? nowMs + dice.below(20) : null] as const));
      }
      assert.equal(pair.schedule.size, pair.naive.size);
      const readyMs = pair.schedule.readyInMs(nowMs);
      if (pair.dueAt(nowMs).length > 0) assert.equal(readyMs, 0, `something is due after step ${step}`);
      const nextMs = Math.min(...pair.naive.values());
      if (pair.naive.size > 0) assert.ok(readyMs !== null && readyMs <= Math.max(0, nextMs - nowMs));
    }
    nowMs += 1000;
    for (let turns = 0; pair.naive.size > 0; turns += 1) {
      assert.ok(turns < 200, 'each turn takes something that is due');
      const taken = await pair.take(nowMs, 7);
      await pair.move(taken.map((one) => [one, null] as const));
    }
    await pair.take(nowMs, 7);
    await pair.take(nowMs, 7);
    await pair.take(nowMs, 7);
    assert.equal(pair.schedule.readyInMs(nowMs), null, 'nothing is waiting');
  });
}

test('partition schedule: sources take turns, so that a burst of one delays no other', async () => {
  const pair = await Pair.open();
  await pair.move(Array.from({ length: 50 }, (_, number) => [`a:e${number}`, 10] as const));
  await pair.move([['b:only', 20]]);
  const first = await pair.take(30, 5);
  const second = await pair.take(30, 5);
  assert.deepEqual(
    [first, second].map(([one]) => one?.slice(0, 1)),
    ['a', 'b'],
  );
});
