/** Clients of a cluster: they need one seed that can be reached, and let their process exit once they are closed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, connectBlocking, disconnect } from '../../src/store/redis/redis-connection.ts';
import { typeScriptWords } from '../../src/typescript/clone-or-package.mjs';
import { run } from '../cli/support/command.ts';
import { RedisCluster } from './support/cluster.ts';

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
