/** What happens to pending commands when a store is closed while Redis is unavailable. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();

test('Redis connection: closing a store while Redis is unavailable settles all pending commands', async () => {
  const store = await redis.openStore(2);
  await store.client.ping();
  const reading = store.client.xread('BLOCK', 60_000, 'STREAMS', 'nothing', '0').then(
    () => 'answered',
    () => 'failed',
  );
  await new Promise((resolve) => setImmediate(resolve));
  await redis.killServer();
  await until('the connection is lost', async () => store.client.status === 'reconnecting');
  const asked = store.client.ping().then(
    () => 'answered',
    () => 'failed',
  );
  await store.close();
  const late = new Promise((resolve) => setTimeout(() => resolve('not notified'), 1_000));
  assert.deepEqual(await Promise.all([Promise.race([reading, late]), Promise.race([asked, late])]), [
    'failed',
    'failed',
  ]);
});
