/** How a shard of a cluster behaves after it has lost its replica. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrontReadiness } from '../../src/http/operations/readiness.ts';
import { keys, platformTag } from '../../src/store/keys.ts';
import { OutageWatch } from '../../src/store/redis/outages.ts';
import { StoreUnavailableError } from '../../src/store/redis/redis-errors.ts';
import { surviving } from '../../src/store/redis/replication.ts';
import { readServerState } from '../../src/store/redis/server-state.ts';
import { findShortages } from '../../src/store/redis/shortages.ts';
import { openStore, type Store, type StoreOptions } from '../../src/store/store.ts';
import { until } from '../support/until.ts';
import { RedisCluster } from './support/cluster.ts';

/** Opens a store like a process, which retries while Redis does not reply in time. */
async function opened(options: StoreOptions): Promise<Store> {
  for (;;) {
    try {
      return await openStore(options);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
  }
}

test('cluster replicas: a shard without a replica refuses acknowledgements if CONFIRM_REPLICAS requires one', async (context) => {
  const cluster = await RedisCluster.start();
  context.after(() => cluster.stop());
  const { address } = cluster;
  const options = { address, partitionCount: 12, commandTimeoutMs: 5_000, replicaWaitMs: 500 };
  const lenient = await opened(options);
  const strict = await opened({ ...options, confirmReplicas: 1 });
  context.after(() => Promise.all([lenient.close(), strict.close()]));
  const acknowledgedBy = (store: typeof strict) =>
    surviving(store.acknowledgements, [platformTag, ...store.partitions.tags], async () => true);
  await until('the replica is up to date', async () => (await findShortages(strict)).missingReplicas === 0);
  assert.ok(await acknowledgedBy(strict));
  const degradedBy = async (store: typeof strict) => {
    const front = {
      store,
      configuration: { loaded: true },
      progress: { ready: true },
      unreachableWorkers: () => [],
      draining: () => false,
    };
    const { faults } = await new FrontReadiness(front).check();
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
  // Without the setting, a shard continues once the cluster has marked its replica as failed.
  await until('the cluster has marked the replica as failed', () =>
    acknowledgedBy(lenient).catch(() => false),
  );
  assert.equal((await findShortages(lenient)).missingReplicas, 0);
  await assert.rejects(acknowledgedBy(strict), StoreUnavailableError);
  assert.equal((await findShortages(strict)).missingReplicas, 1);
  assert.match(
    String(await degradedBy(strict)),
    /^1 of the replicas required by CONFIRM_REPLICAS are missing/,
  );
  assert.deepEqual(await degradedBy(lenient), []);
  assert.ok(await surviving(strict.replication, strict.partitions.tags, async () => true), 'work continues');
});

test('cluster replicas: a killed master is reported once, and once more when a replica has been promoted', async (context) => {
  const cluster = await RedisCluster.start();
  context.after(() => cluster.stop());
  const store = await opened({ address: cluster.address, partitionCount: 12, commandTimeoutMs: 5_000 });
  // Other nodes are ignored, because they may be late on a slow machine, which is reported too.
  const [master] = cluster.nodes;
  assert.ok(master !== undefined);
  const name = `127.0.0.1:${master.port}`;
  let reported: string[] = [];
  const report = (event: string, redis: string) => {
    if (redis === name) reported.push(event);
  };
  const watch = new OutageWatch(store, {
    lost: (redis) => report('lost', redis),
    back: (redis) => report('back', redis),
    replaced: (redis) => report('replaced', redis),
  });
  const work = setInterval(() => {
    for (const tag of store.partitions.tags) store.client.exists(keys.clock(tag)).catch(() => {});
  }, 20);
  context.after(async () => {
    clearInterval(work);
    watch.close();
    await store.close();
  });
  await until('it is not late', () => reported.at(-1) !== 'lost');
  reported = [];
  await master.process.signal('SIGKILL');
  await until('another worker has taken its place', () => reported.includes('replaced'));
  await master.process.start();
  const ofAll = async () => (await readServerState(store)).replicas === 1;
  await until('it follows the other one', () => ofAll().catch(() => false));
  assert.deepEqual(reported, ['lost', 'replaced']);
});
