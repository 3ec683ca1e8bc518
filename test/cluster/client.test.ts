/**
 * Clients of a cluster: they need one seed that can be reached, let their process exit once they are closed, and run no command
 * late.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import { acceptEntities } from '../../src/store/entities/accept.ts';
import { removeEntities } from '../../src/store/entities/entities.ts';
import { encodeEntity } from '../../src/store/entities/entity-record.ts';
import { keys } from '../../src/store/keys.ts';
import {
  connect,
  connectBlocking,
  disconnect,
  mastersOf,
  nodeOf,
} from '../../src/store/redis/redis-connection.ts';
import { openStore } from '../../src/store/store.ts';
import { typeScriptWords } from '../../src/typescript/clone-or-package.mjs';
import { run } from '../cli/support/command.ts';
import { SlowRedis } from '../support/slow-redis.ts';
import { portsPerCluster, RedisCluster } from './support/cluster.ts';

/** Closes clients at the moment when each has sent another slot lookup. */
const program = `
  import { connect, connectBlocking } from './src/store/redis/redis-connection.ts';
  const address = JSON.parse(process.argv[1]);
  for (const client of [connect({ address }), connectBlocking(address)]) {
    client.once('ready', () => client.once('refresh', () => client.disconnect()));
  }
`;
const endMs = 30_000;

test('cluster client: closing it during a slot lookup lets its process exit', async (context) => {
  const cluster = await RedisCluster.start(1);
  context.after(() => cluster.stop());
  const words = [
    ...typeScriptWords,
    '--input-type=module',
    '--eval',
    program,
    JSON.stringify(cluster.address),
  ];
  const { code, stderr } = await run('timeout', [`${endMs / 1000}`, process.execPath, ...words]);
  assert.equal(code, 0, stderr);
});

test('cluster client: connects if one of its seeds has a host name that does not resolve', async (context) => {
  const cluster = await RedisCluster.start(1);
  context.after(() => cluster.stop());
  const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
  const address = { kind: 'cluster' as const, seeds: [{ host: 'redis.invalid', port: 6379 }, ...nodes] };
  for (const client of [connect({ address }), connectBlocking(address)]) {
    context.after(() => disconnect(client));
    assert.equal(await client.ping(), 'PONG');
  }
});

test('cluster client: a command that was repeated does not run again after newer ones', async (context) => {
  const cluster = await RedisCluster.start(1);
  const [master] = cluster.nodes;
  assert.ok(master !== undefined);
  const wire = await SlowRedis.start(() => master.port);
  context.after(async () => {
    await wire.stop();
    await cluster.stop();
  });
  // The node announces the proxy as its address.
  await master.client.config('SET', 'cluster-announce-bus-port', String(master.port + portsPerCluster));
  await master.client.config('SET', 'cluster-announce-port', String(wire.port));
  const client = connect({
    address: { kind: 'cluster', seeds: [{ host: '127.0.0.1', port: wire.port }] },
  });
  context.after(() => disconnect(client));
  await client.set('page', 'first');
  const deliver = wire.forgetAll();
  const repeated = client.set('page', 'second');
  await sleep(100);
  for (const { stream } of mastersOf(client)) stream.destroy();
  await repeated;
  await client.set('page', 'third');
  deliver();
  await sleep(200);
  assert.equal(await client.get('page'), 'third');
});

test('cluster client: a save or delete fails only once none of its calls can have an effect', async (context) => {
  const cluster = await RedisCluster.start(2);
  const store = await openStore({
    address: cluster.address,
    partitionCount: 16,
    commandTimeoutMs: 10_000,
  });
  context.after(async () => {
    await store.close();
    await cluster.stop();
  });
  const { client, partitions } = store;
  assert.ok(client instanceof Cluster);
  const source = { tenant: 'acme', sourceId: 'src-1' };
  const tagOf = (originId: string) => partitions.tag(partitions.ofEntity(source.sourceId, originId));
  const portOf = (originId: string) =>
    Number(
      nodeOf(client, keys.clock(tagOf(originId)))
        ?.split(':')
        .at(-1),
    );
  const originIds = Array.from({ length: 50 }, (_, at) => `p${at}`);
  const [broken = ''] = originIds;
  const slow = originIds.find((originId) => portOf(originId) !== portOf(broken)) ?? '';
  const both = [broken, slow];
  const entities = both.map((originId) =>
    encodeEntity({
      ...{ originId, type: 'page', url: null, originParentId: null, redirects: [], properties: {} },
    }),
  );
  await acceptEntities(store, { ...source, force: false, entities });
  // Calls for this partition fail immediately.
  const key = keys.entities(tagOf(broken), source.tenant, source.sourceId);
  await client.del(key);
  await client.set(key, 'no hash');
  const node = cluster.nodes.find(({ port }) => port === portOf(slow));
  for (const act of [
    () => acceptEntities(store, { ...source, force: true, entities }),
    () => removeEntities(store, { ...source, originIds: both }),
  ]) {
    let isPaused = true;
    await node?.process.signal('SIGSTOP');
    setTimeout(() => {
      isPaused = false;
      void node?.process.signal('SIGCONT');
    }, 500);
    await assert.rejects(act());
    assert.equal(isPaused, false);
  }
});
