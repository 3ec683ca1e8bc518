import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { keys } from '../../../src/store/keys.ts';
import { invalidate, outsideCaller } from '../../../src/store/partitions/intake.ts';
import type { Store } from '../../../src/store/store.ts';
import { openStreamSource, type StreamSource } from '../../../src/store/streams/shared-streams.ts';
import { StreamGapError, StreamReader } from '../../../src/store/streams/stream.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start({ durable: true });

function add(store: Store): Promise<number> {
  return invalidate(store, outsideCaller, 0, 'acme', ['v|e|a|s|1']);
}

const sources: StreamSource[] = [];
after(() => {
  for (const source of sources) source.close();
});

function readerAt(store: Store, place: number): StreamReader {
  const source = openStreamSource(store);
  sources.push(source);
  return new StreamReader(source, keys.stream(store.partitions.tag(0)), place);
}

async function sequences(reader: StreamReader, count = 100, blockMs = 20): Promise<number[]> {
  return (await reader.next(count, blockMs)).map(({ sequence }) => sequence);
}

/** At most three: a portion may have fewer entries than were added. */
async function portionsUpTo(reader: StreamReader, sequence: number): Promise<number[][]> {
  const portions: number[][] = [];
  while (portions.at(-1)?.at(-1) !== sequence) portions.push(await sequences(reader, 3));
  return portions;
}

test('stream: entries are read in order, in portions, each once', async () => {
  const store = await redis.openEmptyStore(1);
  const reader = readerAt(store, 0);
  assert.deepEqual(await sequences(reader), [], 'a stream that does not exist yet is empty');
  for (let entry = 0; entry < 5; entry += 1) await add(store);
  const portions = await portionsUpTo(reader, 5);
  assert.deepEqual(portions.flat(), [1, 2, 3, 4, 5]);
  assert.ok(portions.every(({ length }) => length <= 3));
  assert.deepEqual(await sequences(reader, 3), []);
  reader.seek(3);
  assert.deepEqual((await portionsUpTo(reader, 5)).flat(), [4, 5]);
  reader.close();
});

test('stream: a waiting reader wakes up with the next entry', async () => {
  const store = await redis.openEmptyStore(1);
  const reader = readerAt(store, 0);
  const next = sequences(reader, 10, 10_000);
  await add(store);
  assert.deepEqual(await next, [1]);
  reader.close();
});

test('stream: a reader that is closed while it waits ends without an error', async () => {
  const store = await redis.openEmptyStore(1);
  const reader = readerAt(store, 0);
  const next = sequences(reader, 10, 10_000);
  reader.close();
  assert.deepEqual(await next, []);
  assert.deepEqual(await sequences(reader), []);
});

test('stream: a reader that is closed while Redis is unavailable also ends without an error', async () => {
  const store = await redis.openEmptyStore(1);
  const reader = readerAt(store, 0);
  await add(store);
  assert.deepEqual(await sequences(reader), [1]);
  const next = sequences(reader, 10, 10_000);
  await redis.killServer();
  await until('connections wait to reconnect', () => store.client.status === 'reconnecting');
  reader.close();
  assert.deepEqual(await next, []);
  await redis.startServer();
});

test('stream: entries that were trimmed unread are a gap', async () => {
  const store = await redis.openEmptyStore(1);
  const reader = readerAt(store, 0);
  for (let entry = 0; entry < 5; entry += 1) await add(store);
  await store.client.xtrim(keys.stream(store.partitions.tag(0)), 'MINID', '3');
  await assert.rejects(sequences(reader), StreamGapError);
  reader.seek(2);
  assert.deepEqual(await sequences(reader), [3, 4, 5]);
  reader.close();
});

test('stream: a stream that ends before our position is a gap, even if nothing is added', async () => {
  const store = await redis.openEmptyStore(1);
  for (let entry = 0; entry < 3; entry += 1) await add(store);
  const ahead = readerAt(store, 7);
  await assert.rejects(sequences(ahead), StreamGapError);
  ahead.close();
  await store.client.del(keys.stream(store.partitions.tag(0)));
  const lost = readerAt(store, 3);
  await assert.rejects(sequences(lost), StreamGapError);
  lost.close();
});

test('stream: a stream that was read to its end and trimmed completely is not a gap', async () => {
  const store = await redis.openEmptyStore(1);
  const reader = readerAt(store, 0);
  for (let entry = 0; entry < 3; entry += 1) await add(store);
  await sequences(reader);
  await store.client.xtrim(keys.stream(store.partitions.tag(0)), 'MAXLEN', 0);
  assert.deepEqual(await sequences(reader), []);
  await add(store);
  assert.deepEqual(await sequences(reader), [4]);
  reader.close();
});

test('stream: a reader continues by itself after Redis was killed and restarted', async () => {
  const store = await redis.openEmptyStore(1);
  const reader = readerAt(store, 0);
  await add(store);
  assert.deepEqual(await sequences(reader), [1]);
  const next = sequences(reader, 10, 60_000);
  await redis.killServer();
  await redis.startServer();
  await until('the store is back', async () => (await store.client.ping()) === 'PONG');
  await add(store);
  assert.deepEqual(await next, [2]);
  reader.close();
});
