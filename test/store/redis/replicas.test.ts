import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platformTag } from '../../../src/store/keys.ts';
import { StoreUnavailableError } from '../../../src/store/redis/redis-errors.ts';
import { surviving } from '../../../src/store/redis/replication.ts';
import { readServerState } from '../../../src/store/redis/server-state.ts';
import { findShortages } from '../../../src/store/redis/shortages.ts';
import { openStore } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';
import { SlowRedis } from '../../support/slow-redis.ts';
import { until } from '../../support/until.ts';
import { RedisServer } from '../../system/support/processes/redis-server.ts';

const redis = await TestRedis.start();

test('replicas: a replica that hangs or lags counts as missing, and nothing is acknowledged without it', async (context) => {
  const wire = await SlowRedis.start(() => redis.port);
  const replica = await RedisServer.start({ replicaOf: wire.port });
  const address = { kind: 'single', url: redis.url } as const;
  const store = await openStore({
    address,
    partitionCount: 1,
    commandTimeoutMs: 5_000,
    confirmReplicas: 1,
    replicaWaitMs: 1_000,
  });
  context.after(async () => {
    await store.close();
    await replica.stop();
    await wire.stop();
  });
  const isMissing = async () => (await findShortages(store)).missingReplicas === 1;
  const acknowledged = () => surviving(store.acknowledgements, [platformTag], async () => true);
  await until('the replica is in sync', async () => !(await isMissing()));
  await until('a write is acknowledged', () => acknowledged().catch(() => false));
  const replicas = async () => (await readServerState(store)).replicas;
  assert.equal(await replicas(), 1);

  await replica.process.signal('SIGSTOP');
  assert.ok(await isMissing(), 'it hangs, though it is connected');
  assert.match(await store.client.info('replication'), /connected_slaves:1/);
  await assert.rejects(acknowledged, StoreUnavailableError);
  await until('it does not count as connected', async () => (await replicas()) === 0);
  assert.match(await store.client.info('replication'), /connected_slaves:1/);
  await replica.process.signal('SIGCONT');
  await until('the replica is in sync again', async () => !(await isMissing()));
  await until('it counts again', async () => (await replicas()) === 1);

  wire.delay(1_500);
  assert.ok(await isMissing(), 'it lags');
  wire.delay(0);
  await until('the replica is in sync again', async () => !(await isMissing()));
  await until('a write is acknowledged again', () => acknowledged().catch(() => false));
});
