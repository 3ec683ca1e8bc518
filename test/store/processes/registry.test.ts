import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { heartbeatLostMs } from '../../../src/contract/limits.ts';
import { keys } from '../../../src/store/keys.ts';
import { Heartbeat, heartbeatMs } from '../../../src/store/processes/heartbeat.ts';
import type { ProcessBeat } from '../../../src/store/processes/process-messages.ts';
import { liveProcesses } from '../../../src/store/processes/registry.ts';
import { StoreUnavailableError } from '../../../src/store/redis/redis-errors.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { PartitionCountError } from '../../../src/store/store-facts.ts';
import { TestRedis } from '../../support/redis.ts';
import { SlowRedis } from '../../support/slow-redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();

const worker: ProcessBeat = {
  id: 'w1',
  role: 'worker',
  host: 'here',
  pid: 7,
  layouts: 0,
  generation: 3,
  partitions: [0, 2],
  waitingFor: ['index items'],
};

/** A process with its own connection. */
async function startProcess(context: TestContext, first: ProcessBeat) {
  const store = await redis.openStore(1);
  let reported = first;
  const heartbeat = new Heartbeat(store, {
    beat: () => reported,
    metrics: async () => `figures of ${first.id}\n`,
  });
  context.after(() => heartbeat.close());
  return {
    heartbeat,
    tell(beat: ProcessBeat) {
      reported = beat;
      heartbeat.send();
    },
  };
}

const idsIn = async (store: Store) => (await liveProcesses(store)).map(({ id }) => id).sort();

test('registry: a process that sends heartbeats is live, with everything it reports, until it leaves', async (context) => {
  const store = await redis.openEmptyStore(1);
  assert.deepEqual(await liveProcesses(store), []);
  const first = await startProcess(context, worker);
  await startProcess(context, { ...worker, id: 'w2', partitions: [] });
  await until('both are known', async () => (await liveProcesses(store)).length === 2);
  first.tell({ ...worker, partitions: [1] });
  await until('the change is received', async () =>
    (await liveProcesses(store)).some(({ partitions }) => isDeepStrictEqual(partitions, [1])),
  );
  const live = (await liveProcesses(store)).sort((a, b) => (a.id < b.id ? -1 : 1));
  assert.deepEqual(live, [
    { ...worker, partitions: [1] },
    { ...worker, id: 'w2', partitions: [] },
  ]);
  await first.heartbeat.close();
  await until('it is gone', async () => isDeepStrictEqual(await idsIn(store), ['w2']));
});

test('registry: a new listener immediately knows which processes are live', async (context) => {
  const store = await redis.openEmptyStore(1);
  const ids = ['a', 'b', 'c', 'd'];
  for (const id of ids) await startProcess(context, { ...worker, id });
  await until('all are known', async () => (await liveProcesses(store)).length === ids.length);
  for (let late = 0; late < 5; late += 1) assert.deepEqual(await idsIn(await redis.openStore(1)), ids);
});

test('registry: a process without recent heartbeats counts as gone, by the clock of the listener', async (context) => {
  const store = await redis.openEmptyStore(1);
  const stays = await startProcess(context, { ...worker, id: 'stays' });
  const falls = await startProcess(context, { ...worker, id: 'falls' });
  await until('both are known', async () => (await liveProcesses(store)).length === 2);
  const silentMs = performance.now();
  falls.heartbeat.stopSilently();
  await until(
    'one is left',
    async () => isDeepStrictEqual(await idsIn(store), ['stays']),
    heartbeatLostMs * 2,
  );
  const tookMs = performance.now() - silentMs;
  assert.ok(tookMs > heartbeatLostMs - heartbeatMs - 100, `gone after ${tookMs} ms`);
  stays.heartbeat.stopSilently();
  await until('none is left', async () => (await liveProcesses(store)).length === 0, heartbeatLostMs * 3);
});

test('registry: processes send their metrics on request', async (context) => {
  const store = await redis.openEmptyStore(1);
  assert.deepEqual(await store.registry.metrics('front'), []);
  for (const id of ['front', 'worker', 'jobs']) await startProcess(context, { ...worker, id });
  await until('all are known', async () => (await liveProcesses(store)).length === 3);
  const texts = await store.registry.metrics('front');
  assert.deepEqual(
    texts.sort((a, b) => (a.process < b.process ? -1 : 1)),
    [
      { process: 'jobs', role: 'worker', text: 'figures of jobs\n' },
      { process: 'worker', role: 'worker', text: 'figures of worker\n' },
    ],
  );
});

test('registry: processes of two stores on one Redis do not see each other', async (context) => {
  const store = await redis.openEmptyStore(1);
  const other = await redis.openEmptyStore(1, { database: 3 });
  await startProcess(context, worker);
  await until('it is known', async () => (await liveProcesses(store)).length === 1);
  assert.deepEqual(await liveProcesses(other), []);
});

test('registry: nothing is stored, and processes survive an outage of Redis', async (context) => {
  const own = await TestRedis.open();
  context.after(() => own.stop());
  const store = await own.openEmptyStore(1);
  const before = await store.client.dbsize();
  const heartbeat = new Heartbeat(store, { beat: () => worker, metrics: async () => '' });
  context.after(() => heartbeat.close());
  await until('it is known', async () => (await liveProcesses(store)).length === 1);
  assert.equal(await store.client.dbsize(), before);
  await own.killServer();
  await until('nobody can say which processes are live', async () => {
    const outcome = await liveProcesses(store).catch((error: unknown) => error);
    return outcome instanceof StoreUnavailableError;
  });
  await new Promise((resolve) => setTimeout(resolve, heartbeatLostMs));
  await own.startServer();
  await until('it is known again', async () => {
    const live = await liveProcesses(store).catch(() => null);
    // Redis is reachable, and no process was ever missing.
    if (live !== null) assert.deepEqual(live, [worker]);
    return live !== null;
  });
});

test('registry: readers do not notice a connection that breaks and reconnects', async (context) => {
  const store = await redis.openEmptyStore(1);
  await startProcess(context, worker);
  await until('it is known', async () => (await liveProcesses(store)).length === 1);
  for (let time = 0; time < 10; time += 1) {
    await store.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    for (let look = 0; look < 20; look += 1) {
      assert.deepEqual(await idsIn(store), [worker.id]);
      await nextTurn();
    }
  }
});

test('registry: the number of partitions is fixed when a store is first used', async () => {
  const first = await redis.openEmptyStore(4);
  const second = await redis.openStore(4);
  assert.deepEqual(second.secret, first.secret);
  assert.equal(first.secret.length, 32);
  const address = { kind: 'single', url: redis.url } as const;
  await assert.rejects(openStore({ address, partitionCount: 5 }), PartitionCountError);
});

test('registry: a store that another version laid out differently is refused', async () => {
  const store = await redis.openEmptyStore(4);
  for (const older of [undefined, '1']) {
    await store.client.hdel(keys.layout, 'format');
    if (older !== undefined) await store.client.hset(keys.layout, 'format', older);
    await assert.rejects(redis.openStore(4), (error: Error) => {
      assert.equal(error.name, 'StoreFormatError');
      assert.match(error.message, /has format 1, .*npm run backup.*npm run restore/);
      return true;
    });
  }
});

test('registry: a store of format 10 or 11 is upgraded in place, even if it is full', async (context) => {
  const store = await redis.openEmptyStore(4);
  const raised = await store.client.hget(keys.layout, 'format');
  assert.ok(Number(raised) > 11);
  for (const [format, maxmemory] of [
    ['10', '0'],
    ['10', '1mb'],
    ['11', '1mb'],
  ] as const) {
    await store.client.hset(keys.layout, 'format', format);
    context.after(() => store.client.config('SET', 'maxmemory', '0'));
    await store.client.config('SET', 'maxmemory', maxmemory);
    await redis.openStore(4);
    assert.equal(await store.client.hget(keys.layout, 'format'), raised);
    await store.client.config('SET', 'maxmemory', '0');
    await store.checkUnchanged();
  }
});

test('registry: a store that a newer version has upgraded is refused, and processes that have it open notice', async () => {
  const store = await redis.openEmptyStore(4);
  await store.client.hset(keys.layout, 'format', '99');
  const refused = /has format 99, .* start the version that wrote it, or a newer one/;
  await assert.rejects(redis.openStore(4), refused);
  await assert.rejects(store.checkUnchanged(), refused);
  assert.equal(await store.client.hget(keys.layout, 'format'), '99');
});

test('registry: processes notice that their store was emptied, also if another one took its place', async () => {
  const store = await redis.openEmptyStore(4);
  await store.checkUnchanged();
  const refused = /the store was emptied or replaced by another one/;
  await redis.flush();
  await assert.rejects(store.checkUnchanged(), refused);
  await redis.openStore(4);
  await assert.rejects(store.checkUnchanged(), refused);
});

test('registry: with a Redis slower than the reply timeout, a listener still learns of all processes', async (context) => {
  const store = await redis.openEmptyStore(1);
  await startProcess(context, worker);
  await until('it is known', async () => (await liveProcesses(store)).length === 1);
  const wire = await SlowRedis.start(() => Number(new URL(redis.url).port));
  const far = await openStore({ address: { kind: 'single', url: wire.url }, partitionCount: 1 });
  context.after(async () => {
    await far.close();
    await wire.stop();
  });
  wire.delay(700);
  // Unknown until the request has been delivered, then known, on the same connection.
  await until('it is known over the slow connection', () =>
    idsIn(far).then(
      (ids) => ids.length === 1,
      (error: unknown) => {
        assert.ok(error instanceof StoreUnavailableError);
        return false;
      },
    ),
  );
});

test('registry: knows all processes again within 15 s of a stall, on the same connections', async (context) => {
  const store = await redis.openEmptyStore(1);
  await startProcess(context, worker);
  await until('it is known', async () => (await liveProcesses(store)).length === 1);
  const wire = await SlowRedis.start(() => Number(new URL(redis.url).port));
  const address = { kind: 'single', url: wire.url } as const;
  const far = await openStore({ address, partitionCount: 1, commandTimeoutMs: 1_000 });
  context.after(async () => {
    await far.close();
    await wire.stop();
  });
  assert.deepEqual(await idsIn(far), [worker.id]);
  wire.stall();
  await until('nobody can say which processes are live', () =>
    idsIn(far).then(
      () => false,
      (error: unknown) => error instanceof StoreUnavailableError,
    ),
  );
  // The request that was sent meanwhile has failed too.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  wire.resume();
  await until(
    'it is known again',
    () =>
      idsIn(far).then(
        (ids) => ids.length === 1,
        () => false,
      ),
    15_000,
  );
  assert.equal((await far.registry.metrics('nobody')).length, 1);
});
