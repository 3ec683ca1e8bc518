import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SendBehind } from '../../../src/store/redis/field-reader.ts';
import { StoreUnavailableError } from '../../../src/store/redis/redis-errors.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';
import { SlowRedis } from '../../support/slow-redis.ts';

const redis = await TestRedis.start();

test('field reader: reads in one turn are sent as one command per hash, and each caller gets its fields in order', async () => {
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

test('field reader: more fields of a hash than fit in one command are read with several', async () => {
  const { client, fields } = await redis.openEmptyStore(4);
  const names = Array.from({ length: 1_000 }, (_, number) => `f${number}`);
  await client.hset('many', Object.fromEntries(names.map((name) => [name, `value of ${name}`])));
  const values = await fields.read(names.map((field) => ({ key: 'many', field })));
  assert.deepEqual(
    values.map((value) => value?.toString()),
    names.map((name) => `value of ${name}`),
  );
});

test('field reader: a failed command fails only the readers of its hash', async () => {
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

async function readOne(store: Store, key: string, field: string): Promise<string | undefined> {
  const [value] = await store.fields.read([{ key, field }]);
  return value?.toString();
}

test('field reader: values of every size are returned unchanged', async () => {
  const store = await redis.openEmptyStore(4);
  const values = new Map<string, Buffer>();
  for (const bytes of [0, 1, 500, 70_000, 3_000_000]) {
    values.set(`é ${bytes}`, Buffer.alloc(bytes, '\r\n$-1\r\nü'));
  }
  for (const [field, value] of values) await store.client.hset(`hash of ${field}`, field, value);
  for (const reader of [store.fields, store.large]) {
    const asked = [...values.keys(), 'none'].map((field) =>
      reader.read([{ key: `hash of ${field}`, field }]),
    );
    const expected = [...values.keys(), 'none'].map((field) => [values.get(field) ?? null]);
    assert.deepEqual(await Promise.all(asked), expected);
  }
});

test('field reader: commands sent after reads run after them', async () => {
  const store = await redis.openEmptyStore(4);
  await store.client.hset('hash', 'field', 'before');
  const reading = readOne(store, 'hash', 'field');
  const send = await new Promise<SendBehind>((resolve) => {
    store.fields.behind((sendBehind) => {
      void sendBehind('HSET', ['hash', 'field', 'after']);
      resolve(sendBehind);
    });
  });
  assert.equal(await reading, 'before');
  assert.deepEqual(await send('HGET', ['hash', 'field']), Buffer.from('after'));
  await assert.rejects(send('HGET', ['hash']), /wrong number of arguments/);
});

test('field reader: a read without a reply times out, and later reads get their own replies', async (context) => {
  const wire = await SlowRedis.start(() => redis.port);
  const address = { kind: 'single', url: wire.url } as const;
  const opening = openStore({ address, partitionCount: 4, commandTimeoutMs: 1_000 });
  context.after(async () => {
    await opening.then((opened) => opened.close()).catch(() => {});
    await wire.stop();
  });
  const store = await opening;
  await store.client.hset('hash', { late: 'late', next: 'next' });
  wire.stall();
  await assert.rejects(readOne(store, 'hash', 'late'), StoreUnavailableError);
  const next = readOne(store, 'hash', 'next');
  wire.resume();
  assert.equal(await next, 'next');
});
