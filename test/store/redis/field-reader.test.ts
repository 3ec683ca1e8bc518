import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();

test('reads of one turn go out as one command for each hash, and each caller gets its own in order', async () => {
  const { client, fields } = await redis.openEmptyStore(4);
  for (const key of ['one', 'two']) {
    for (let field = 0; field < 5; field += 1) await client.hset(key, `f${field}`, `${key} ${field}`);
  }
  await client.config('RESETSTAT');
  const asked = await Promise.all([
    fields.read([
      { key: 'two', field: 'f3' },
      { key: 'one', field: 'f0' },
      { key: 'none', field: 'f0' },
    ]),
    fields.read([]),
    fields.read([
      { key: 'one', field: 'none' },
      { key: 'one', field: 'f4' },
      { key: 'two', field: 'f3' },
    ]),
  ]);
  assert.deepEqual(
    asked.map((values) => values.map((value) => value?.toString() ?? null)),
    [['two 3', 'one 0', null], [], [null, 'one 4', 'two 3']],
  );
  assert.match(await client.info('commandstats'), /cmdstat_hmget:calls=3,/);
});

test('more fields of a hash than fit one command are read by several', async () => {
  const { client, fields } = await redis.openEmptyStore(4);
  const names = Array.from({ length: 1_000 }, (_, number) => `f${number}`);
  await client.hset('many', Object.fromEntries(names.map((name) => [name, `value of ${name}`])));
  const values = await fields.read(names.map((field) => ({ key: 'many', field })));
  assert.deepEqual(
    values.map((value) => value?.toString()),
    names.map((name) => `value of ${name}`),
  );
});

test('a command that fails fails those alone who asked for its hash', async () => {
  const { client, fields } = await redis.openEmptyStore(4);
  await client.set('text', 'no hash');
  await client.hset('hash', 'field', 'value');
  const [bad, good] = await Promise.allSettled([
    fields.read([
      { key: 'hash', field: 'field' },
      { key: 'text', field: 'field' },
    ]),
    fields.read([{ key: 'hash', field: 'field' }]),
  ]);
  assert.equal(bad.status, 'rejected');
  assert.deepEqual(good, { status: 'fulfilled', value: [Buffer.from('value')] });
});
