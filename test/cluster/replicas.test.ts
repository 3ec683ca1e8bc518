/** What a shard of a cluster does that has lost its replica. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrontReadiness } from '../../src/http/operations/readiness.ts';
import { keys, platformTag } from '../../src/store/keys.ts';
import { OutageWatch } from '../../src/store/redis/outages.ts';
import { StoreUnavailableError } from '../../src/store/redis/redis-errors.ts';
import { surviving } from '../../src/store/redis/replication.ts';
import { readServerState } from '../../src/store/redis/server-state.ts';
import { findShortages } from '../../src/store/redis/shortages.ts';
import { openStore } from '../../src/store/store.ts';
import { until } from '../support/until.ts';
import { RedisCluster } from './support/cluster.ts';

test('a shard without a replica refuses acknowledgements when CONFIRM_REPLICAS asks for one', async (context) => {
  const cluster = await RedisCluster.start();
  context.after(() => cluster.stop());
  const { address } = cluster;
  const options = { address, partitionCount: 12, commandTimeoutMs: 5_000, replicaWaitMs: 500 };
  const lenient = await openStore(options);
  const strict = await openStore({ ...options, confirmReplicas: 1 });
  context.after(() => Promise.all([lenient.close(), strict.close()]));
  const acknowledgedBy = (store: typeof strict) =>
    surviving(store.acknowledgements, [platformTag, ...store.partitions.tags], async () => true);
  await until('the replica is in step', async () => (await findShortages(strict)).missingReplicas === 0);
  assert.ok(await acknowledgedBy(strict));
  const degradedBy = async (store: typeof strict) => {
    const front = {
      store,
      configuration: { loaded: true },
      progress: { ready: true },
      unreachableWorkers: () => [],
      draining: () => false,
    };
    const { faults } = await new FrontReadiness(front).look();
    return faults.filter(({ kind }) => kind === 'replicas').map(({ reason }) => reason);
  };
  assert.deepEqual(await degradedBy(strict), []);
  assert.equal((await readServerState(strict)).replicas, 1);

  const replica = cluster.nodes.at(-1);
  await replica?.process.signal('SIGSTOP');
  await until(
    'a replica that hangs is missing',
    async () => (await findShortages(strict)).missingReplicas === 1,
  );
  await assert.rejects(acknowledgedBy(strict), StoreUnavailableError);
  await until('it does not count', async () => (await readServerState(strict)).replicas === 0);
  await replica?.process.signal('SIGKILL');
  // Without the setting a shard goes on once the cluster has given its replica up.
  await until('the cluster has given the replica up', () => acknowledgedBy(lenient).catch(() => false));
  assert.equal((await findShortages(lenient)).missingReplicas, 0);
  await assert.rejects(acknowledgedBy(strict), StoreUnavailableError);
  assert.equal((await findShortages(strict)).missingReplicas, 1);
  assert.match(
    String(await degradedBy(strict)),
    /^1 of the replicas required by CONFIRM_REPLICAS are missing/,
  );
  assert.deepEqual(await degradedBy(lenient), []);
  assert.ok(await surviving(strict.replication, strict.partitions.tags, async () => true), 'work goes on');
});

test('a master that is killed is reported once, and once when a replica has taken its place', async (context) => {
  const cluster = await RedisCluster.start();
  context.after(() => cluster.stop());
  const store = await openStore({ address: cluster.address, partitionCount: 12, commandTimeoutMs: 500 });
  const reported: string[] = [];
  const watch = new OutageWatch([store], {
    lost: (redis) => void reported.push(`lost ${redis}`),
    back: (redis) => void reported.push(`back ${redis}`),
    replaced: (redis) => void reported.push(`replaced ${redis}`),
  });
  const work = setInterval(() => {
    for (const tag of store.partitions.tags) store.client.exists(keys.clock(tag)).catch(() => {});
  }, 20);
  context.after(async () => {
    clearInterval(work);
    watch.close();
    await store.close();
  });
  const [master] = cluster.nodes;
  assert.ok(master !== undefined);
  await master.process.signal('SIGKILL');
  await until('another has taken its place', () => reported.length === 2, 30_000);
  assert.deepEqual(reported, [`lost 127.0.0.1:${master.port}`, `replaced 127.0.0.1:${master.port}`]);
  await master.process.start();
  const ofAll = async () => (await readServerState(store)).replicas === 1;
  await until('it follows the other one', () => ofAll().catch(() => false), 30_000);
  assert.equal(reported.length, 2);
});
