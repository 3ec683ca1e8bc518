import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../../src/store/keys.ts';
import { TestRedis } from '../../../support/redis.ts';
import { until } from '../../../support/until.ts';
import {
  autoIndex,
  numbered,
  schemaIndex,
  startCluster,
  type TestCluster,
  totalOf,
} from '../../support/cluster.ts';
import { tenantOf } from '../../support/site.ts';

const redis = await TestRedis.start();
const tenant = tenantOf({ things: { name: 'keyword', size: 'integer' } });
const things = schemaIndex('things');

/** Queries until stopped. @returns wrong totals and errors */
function asking(cluster: TestCluster, wanted: number): { readonly wrong: unknown[]; end(): Promise<number> } {
  const wrong: unknown[] = [];
  let [asked, isOver] = [0, false];
  const work = (async () => {
    while (!isOver) {
      const total = await totalOf(cluster).catch((error: unknown) => error);
      asked += 1;
      if (total !== wanted) wrong.push(total);
    }
  })();
  return {
    wrong,
    end: async () => {
      await until('more is queried', () => asked > 20);
      isOver = true;
      await work;
      return asked;
    },
  };
}

for (const way of ['path', 'tcp'] as const) {
  test(`shard copies: another worker answers for a killed one, ${way === 'path' ? 'over Unix sockets' : 'over TCP'}`, async (context) => {
    const layout = { partitions: 4, workers: 2, copies: 2, way, queryWaitMs: 3_000 };
    const cluster = await startCluster(context, redis, tenant, layout);
    await cluster.write(things, numbered(50));
    const load = asking(cluster, 50);
    await cluster.workers[0]?.kill();
    await load.end();
    assert.deepEqual(load.wrong, []);
    assert.equal(cluster.service.counters.unavailable, 0);
  });
}

test('shard copies: copies have every acknowledged change, from any writer', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 4, workers: 3, copies: 2 });
  for (let round = 0; round < 30; round += 1) {
    const items = numbered(20, (number) => ({ size: number * round, name: `round-${round}` }));
    for (let number = 0; number < 20; number += 1)
      if ((number + round) % 3 === 0) items.set(`item-${number}`, null);
    await cluster.write(things, items);
    const { totalResults, rows } = await cluster.query('things', { pagination: { pageSize: 100 } });
    const there = [...items].filter(([, fields]) => fields !== null);
    assert.equal(totalResults, there.length);
    const shown = new Map(rows.map(({ originId, text }) => [originId, JSON.parse(text.toString()).name]));
    for (const [originId] of there) assert.equal(shown.get(originId), `round-${round}`, originId);
  }
});

test('shard copies: copies learn the fields of auto-indexed types from Redis', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 4, workers: 2, copies: 2 });
  for (let round = 0; round < 4; round += 1) {
    await cluster.write(
      autoIndex('page'),
      numbered(10, (number) => ({ [`field${round}`]: number })),
    );
    const target = { kind: 'auto', sourceGroup: 'cms', type: 'page' } as const;
    const filters = { and: [{ field: `field${round}`, operator: 'greaterThan', value: 4 }] };
    for (let asked = 0; asked < 4; asked += 1) {
      const [outcome] = await cluster.run(target, { filters });
      assert.ok(outcome?.ok && outcome.result.kind === 'text');
      assert.equal(JSON.parse(outcome.result.text.toString()).totalResults, 5);
    }
  }
});

test('shard copies: a copy that misses changes reloads its partition', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 2, workers: 2, copies: 2 });
  await cluster.write(things, numbered(40));
  assert.equal(await totalOf(cluster), 40);
  const { client, partitions } = cluster.store;
  const tag = partitions.tag(0);
  // The stream starts again after the position that the copies have read, as after a failover.
  const items = (await client.keys(`${tag}:items:*`)).find((name) => name.endsWith(`:${things}`)) ?? '';
  const [field = ''] = await client.hkeys(items);
  await client.hdel(items, field);
  await client.del(keys.changes(tag));
  await client.xadd(keys.changes(tag), '9-0', 'd', '');
  await client.hset(keys.clock(tag), 'changes', 9);
  await until('it was loaded again', async () => (await totalOf(cluster).catch(() => 0)) === 39);
});

test('shard copies: no query fails while the partitions are divided into other groups', async (context) => {
  const cluster = await startCluster(context, redis, tenant, {
    partitions: 8,
    workers: 2,
    copies: 2,
  });
  await cluster.write(things, numbered(300));
  const load = asking(cluster, 300);
  for (const workers of [3, 4]) {
    await cluster.addWorker([]);
    assert.equal(cluster.workers.length, workers);
    await cluster.untilCopied();
  }
  const asked = await load.end();
  assert.deepEqual(load.wrong, []);
  context.diagnostic(`${asked} queries`);
  const held = cluster.workers.map(({ copies }) => copies?.beat?.ready.join());
  assert.deepEqual(held.sort(), ['0/2', '0/2', '1/2', '1/2']);
  // With groups of four partitions each worker has half of the items.
  assert.deepEqual(
    cluster.workers.map(({ copies }) => copies?.partitions),
    [4, 4, 4, 4],
  );
});

test('shard copies: copies answer for partitions that nobody owns', async (context) => {
  const cluster = await startCluster(context, redis, tenant, {
    partitions: 4,
    workers: 2,
    copies: 2,
    queryWaitMs: 3_000,
  });
  await cluster.write(things, numbered(50));
  for (const worker of cluster.workers)
    for (let partition = 0; partition < 4; partition += 1) await worker.release(partition);
  assert.equal(await totalOf(cluster), 50);
});
