import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LastIds, lastIdOf } from '../../../src/store/streams/stream-connection.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start({ durable: false });

test('stream connection: reads all requested streams in one call, whether they have entries, are trimmed or do not exist', async () => {
  const { client } = await redis.openEmptyStore(1);
  await client.xadd('whole', '7-0', 'name', 'value');
  await client.xadd('trimmed', '3-0', 'name', 'value');
  await client.xtrim('trimmed', 'MAXLEN', 0);
  await client.config('RESETSTAT');
  const lastIds = new LastIds(client);
  const asked = ['trimmed', 'nothing', 'whole'].map((key) => lastIds.of(key));
  assert.deepEqual(await Promise.all(asked), ['3-0', '0-0', '7-0']);
  const [, calls] = /cmdstat_eval:calls=(\d+)/.exec(await client.info('commandstats')) ?? [];
  assert.equal(calls, '1');
  assert.equal(await lastIds.of('whole'), '7-0');
  assert.equal(await lastIdOf(client, 'trimmed'), '3-0');
});
