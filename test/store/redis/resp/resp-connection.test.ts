import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { StoreUnavailableError } from '../../../../src/store/redis/errors.ts';
import type { SendBehind } from '../../../../src/store/redis/field-reader.ts';
import { openStore, type Store } from '../../../../src/store/store.ts';
import { TestRedis } from '../../../support/redis.ts';
import { SlowRedis } from '../../../support/slow-redis.ts';
import { until } from '../../../support/until.ts';

const redis = await TestRedis.start({ durable: true });
const wire = await SlowRedis.start(() => redis.port);
const stores: Store[] = [];
after(async () => {
  wire.goOn();
  await Promise.all(stores.map((store) => store.close()));
  await wire.stop();
});

/** @param timeoutMs of a read on the connection */
async function openLined(timeoutMs = 10_000, url = redis.url): Promise<Store> {
  const address = { kind: 'single', url } as const;
  const store = await openStore({ address, partitionCount: 2, readTimeoutMs: timeoutMs });
  stores.push(store);
  await until('the connection is open', () => store.fields.isOnOwnConnection);
  return store;
}

async function readOne(store: Store, key: string, field: string): Promise<string | undefined> {
  const [value] = await store.fields.read([{ key, field }]);
  return value?.toString();
}

test('values of every kind and size come as they are, each to who asked for it', async () => {
  await redis.flush();
  const store = await openLined();
  const values = new Map<string, Buffer>();
  for (const bytes of [0, 1, 500, 70_000, 3_000_000]) {
    values.set(`é ${bytes}`, Buffer.alloc(bytes, '\r\n$-1\r\nü'));
  }
  for (const [field, value] of values) await store.client.hset(`hash of ${field}`, field, value);
  const asked = [...values.keys(), 'none'].map((field) =>
    store.fields.read([
      { key: `hash of ${field}`, field },
      { key: 'nothing', field },
    ]),
  );
  const expected = [...values.keys(), 'none'].map((field) => [values.get(field) ?? null, null]);
  assert.deepEqual(await Promise.all(asked), expected);
});

test('a key that is no hash fails those alone who asked for it', async () => {
  await redis.flush();
  const store = await openLined();
  await store.client.set('text', 'no hash');
  await store.client.hset('hash', 'field', 'value');
  const [bad, good] = await Promise.allSettled([
    readOne(store, 'text', 'field'),
    readOne(store, 'hash', 'field'),
  ]);
  assert.equal(bad.status, 'rejected');
  assert.deepEqual(good, { status: 'fulfilled', value: 'value' });
});

test('what is sent behind reads is done behind them', async () => {
  await redis.flush();
  const store = await openLined();
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

test('reads go on through a Redis that goes and comes back', async () => {
  await redis.flush();
  const store = await openLined();
  await store.client.hset('hash', 'field', 'value');
  const reading: Promise<string | undefined>[] = [];
  const ask = () => {
    for (let time = 0; time < 50; time += 1) reading.push(readOne(store, 'hash', 'field'));
  };
  ask();
  await new Promise((resolve) => setImmediate(resolve));
  await redis.killServer();
  await until('the connection is lost', () => !store.fields.isOnOwnConnection);
  ask();
  await redis.startServer();
  await until('the connection is open again', () => store.fields.isOnOwnConnection);
  ask();
  assert.deepEqual(new Set(await Promise.all(reading)), new Set(['value']));
});

test('a read that gets no answer fails in time, and the next ones come once Redis answers again', async () => {
  await redis.flush();
  const store = await openLined(200, wire.url);
  await store.client.hset('hash', 'field', 'value');
  assert.equal(await readOne(store, 'hash', 'field'), 'value');
  wire.stall();
  await assert.rejects(readOne(store, 'hash', 'field'), StoreUnavailableError);
  const later = readOne(store, 'hash', 'field');
  wire.goOn();
  assert.equal(await later, 'value');
  await until('the connection is open again', () => store.fields.isOnOwnConnection);
  assert.equal(await readOne(store, 'hash', 'field'), 'value');
});

test('a store that is closed leaves no read waiting', async () => {
  const store = await openLined();
  const reading = readOne(store, 'hash', 'field').then(
    () => 'settled',
    () => 'settled',
  );
  await store.close();
  assert.equal(await reading, 'settled');
});
