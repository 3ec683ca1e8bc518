import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heartbeatLostMs } from '../../src/contract/limits.ts';
import { keys } from '../../src/store/keys.ts';
import { pack } from '../../src/store/pack.ts';
import { beat, leave, liveProcesses, type ProcessBeat, storeTimeMs } from '../../src/store/registry.ts';
import { openStore, PartitionCountError } from '../../src/store/store.ts';
import { TestRedis } from '../support/redis.ts';

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
  metrics: '# HELP x\n',
};

test('a process that beats is live, with all it tells, until it leaves', async () => {
  const store = await redis.openEmptyStore(1);
  await beat(store, worker);
  await beat(store, { ...worker, id: 'w2', partitions: [] });
  await beat(store, { ...worker, partitions: [1] });
  const nowMs = await storeTimeMs(store);
  const live = await liveProcesses(store);
  assert.deepEqual(
    live.sort((a, b) => (a.id < b.id ? -1 : 1)),
    [
      { ...worker, partitions: [1], atMs: live[0]?.atMs },
      { ...worker, id: 'w2', partitions: [], atMs: live[1]?.atMs },
    ],
  );
  assert.ok(live.every(({ atMs }) => nowMs - atMs >= 0 && nowMs - atMs < heartbeatLostMs));
  await leave(store, 'w1');
  assert.deepEqual(
    (await liveProcesses(store)).map(({ id }) => id),
    ['w2'],
  );
});

test('a process not heard of lately counts as gone, and is forgotten after a minute', async () => {
  const store = await redis.openEmptyStore(1);
  const nowMs = await storeTimeMs(store);
  const at = (ageMs: number, id: string) => pack([nowMs - ageMs, { ...worker, id }]);
  await store.client.hset(keys.processes, {
    fresh: at(heartbeatLostMs - 1000, 'fresh'),
    late: at(heartbeatLostMs + 10, 'late'),
    old: at(61_000, 'old'),
  });
  assert.deepEqual(
    (await liveProcesses(store)).map(({ id }) => id),
    ['fresh'],
  );
  assert.deepEqual((await store.client.hkeys(keys.processes)).sort(), ['fresh', 'late']);
});

test('the number of partitions is fixed when a store is first used', async () => {
  const first = await redis.openEmptyStore(4);
  const second = await redis.openStore(4);
  assert.deepEqual(second.secret, first.secret);
  assert.equal(first.secret.length, 32);
  const address = { kind: 'single', url: redis.url } as const;
  await assert.rejects(openStore({ address, partitionCount: 5 }), PartitionCountError);
});

test('a store that another version laid out in another way is refused', async () => {
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
