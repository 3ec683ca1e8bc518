/** What happens to a worker's leases and heartbeat when the thread that maintains them ends. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BroadcastChannel } from 'node:worker_threads';
import { ThreadedKeeper, type ThreadOptions } from '../../../src/actors/ownership/threaded-keeper.ts';
import { LeaseEnds, takeLease } from '../../../src/store/ownership/lease.ts';
import { readOwner } from '../../../src/store/ownership/owners.ts';
import { liveProcesses } from '../../../src/store/processes/registry.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();
const leaseMs = 1_500;
const workerId = 'kept';
const script = new URL('../support/ending-keeper-thread.mjs', import.meta.url);
const beat = {
  id: workerId,
  role: 'worker' as const,
  host: 'here',
  pid: process.pid,
  generation: 1,
  layouts: 0,
  partitions: [0],
  waitingFor: [],
};

/** A keeper of one lease, whose thread ends on a message. */
async function keepOne(context: TestContext, options: ThreadOptions = { script }) {
  const store = await redis.openEmptyStore(1);
  const errors: string[] = [];
  const keeper = new ThreadedKeeper(
    store,
    { leaseMs, ends: LeaseEnds.ofPartitions(1) },
    {
      lost: (lease) => errors.push(`lost ${lease.partition}`),
      error: (message, error) => errors.push(`${message}: ${String(error)}`),
      metrics: async () => 'its metrics',
    },
    options,
  );
  const requestedMs = performance.now();
  const lease = await takeLease(store, 0, workerId, leaseMs);
  assert.ok(lease !== null);
  keeper.keep(lease, requestedMs);
  keeper.sendBeat(beat);
  const channel = new BroadcastChannel('end-keeper-thread');
  context.after(async () => {
    channel.close();
    await keeper.close();
  });
  return { store, keeper, errors, endThread: () => channel.postMessage('end') };
}

/** Renewed for longer than a lease lasts. */
async function untilRenewed(store: Store): Promise<void> {
  const before = await readOwner(store, 0);
  await until('the lease is renewed for longer than it lasts', async () => {
    const { leaseUntilMs, holds, workerId: owner } = await readOwner(store, 0);
    return holds && owner === workerId && leaseUntilMs > before.leaseUntilMs + leaseMs;
  });
}

test('threaded keeper: a thread that ended is replaced by one with the same leases and the same heartbeat', async (context) => {
  const { store, errors, endThread } = await keepOne(context);
  await untilRenewed(store);
  const { epoch } = await readOwner(store, 0);
  endThread();
  await until('its end is reported', () => errors.length > 0);
  await untilRenewed(store);
  assert.equal((await readOwner(store, 0)).epoch, epoch);
  await until('it is known', async () => (await liveProcesses(store)).some(({ id }) => id === workerId));
  // On a busy machine the next thread may exceed its start timeout. Then one more is started, and reported too.
  assert.match(errors[0] ?? '', /^leases are now renewed by another thread: .*the leases ended$/);
});

test('threaded keeper: if threads start slower than the first timeout, a later one gets enough time', async (context) => {
  const slow = new URL('../support/slow-keeper-thread.mjs', import.meta.url);
  const { store, errors } = await keepOne(context, { script: slow, firstWaitMs: 100 });
  await until('it is known', async () => (await liveProcesses(store)).some(({ id }) => id === workerId));
  assert.match(errors[0] ?? '', /was not ready after 100 ms$/);
  assert.match(errors[1] ?? '', /was not ready after 200 ms$/);
});

test('threaded keeper: messages from a replaced thread are ignored', async (context) => {
  const store = await redis.openEmptyStore(1);
  const channel = new BroadcastChannel('late-keeper-thread');
  const errors: string[] = [];
  const keeper = new ThreadedKeeper(
    store,
    { leaseMs, ends: LeaseEnds.ofPartitions(1) },
    {
      lost: () => {},
      error: (_, error) => {
        if (errors.push(String(error)) > 1) return;
        channel.postMessage('begin');
        // The first thread, which is about to end, has time to send a message; the second one has not started yet.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      },
      metrics: async () => '',
    },
    { script: new URL('../support/late-keeper-thread.mjs', import.meta.url), firstWaitMs: 1_000 },
  );
  context.after(async () => {
    channel.close();
    await keeper.close();
  });
  await until('the second one is replaced, too', () => errors.length > 1, 10_000);
  assert.match(errors[1] ?? '', /was not ready after 2000 ms$/);
});

test('threaded keeper: a released lease is not taken over by the next thread', async (context) => {
  const { store, keeper, errors, endThread } = await keepOne(context);
  await untilRenewed(store);
  keeper.stopRenewing(0);
  endThread();
  await until('its end is reported', () => errors.length > 0);
  await until('the lease ends', async () => !(await readOwner(store, 0)).holds);
});
