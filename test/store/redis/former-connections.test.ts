/** Whatever a closed connection still holds, Redis no longer runs it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import {
  connect,
  connectForJobs,
  disconnect,
  type RedisClient,
} from '../../../src/store/redis/redis-connection.ts';
import { TestRedis } from '../../support/redis.ts';
import { SlowRedis } from '../../support/slow-redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();

/** A client whose connection holds its commands, and the client's next connection, which works. */
async function replaced(context: TestContext, open: (url: string) => RedisClient) {
  const wire = await SlowRedis.start(() => redis.port);
  const client = open(`${wire.url}/0`);
  context.after(async () => {
    disconnect(client);
    await wire.stop();
  });
  assert.ok(client instanceof Redis);
  await client.set('page', 'first');
  const deliver = wire.forgetAll();
  const repeated = client.set('page', 'second');
  await new Promise((resolve) => setTimeout(resolve, 100));
  client.stream.destroy();
  await repeated;
  await client.set('page', 'third');
  return { client, deliver };
}

for (const [name, open] of [
  ['a worker', (url: string) => connect({ address: { kind: 'single', url } })],
  ['a front', (url: string) => connect({ address: { kind: 'single', url }, commandTimeoutMs: 5_000 })],
  ['BullMQ', (url: string) => connectForJobs({ kind: 'single', url })],
] as const) {
  test(`former connections: a command of ${name} that was repeated does not run again after newer ones`, async (context) => {
    const { client, deliver } = await replaced(context, open);
    deliver();
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(await client.get('page'), 'third');
  });
}

test('former connections: other clients keep their connections', async (context) => {
  const other = connect({ address: { kind: 'single', url: redis.url } }) as Redis;
  context.after(() => disconnect(other));
  let closed = 0;
  other.on('close', () => (closed += 1));
  await other.ping();
  await replaced(context, (url) => connect({ address: { kind: 'single', url } }));
  await other.ping();
  assert.equal(closed, 0);
});

test('former connections: a client without the permission to end them works', async (context) => {
  const admin = new Redis(redis.url);
  await admin.call('ACL', 'SETUSER', 'plain', 'on', '>secret', '~*', '&*', '+@all', '-client|kill');
  const url = `redis://plain:secret@127.0.0.1:${redis.port}`;
  const client = connect({ address: { kind: 'single', url } }) as Redis;
  context.after(() => {
    disconnect(client);
    admin.disconnect();
  });
  await client.set('page', 'first');
  client.stream.destroy();
  await until('the connection is lost', async () => client.status !== 'ready');
  assert.equal(await client.get('page'), 'first');
});
