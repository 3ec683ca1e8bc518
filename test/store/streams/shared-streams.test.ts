import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Cluster } from 'ioredis';
import type { SendBehind } from '../../../src/store/redis/field-reader.ts';
import { sendRaw } from '../../../src/store/redis/send.ts';
import type { Store } from '../../../src/store/store.ts';
import { openStreamSource, type StreamSource } from '../../../src/store/streams/shared-streams.ts';
import { StreamReader } from '../../../src/store/streams/stream.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start({ durable: false });
const sources: StreamSource[] = [];
after(() => {
  for (const source of sources) source.close();
});

function openSource(store: Store, pauseMs = 0): StreamSource {
  const source = openStreamSource(store, pauseMs);
  sources.push(source);
  return source;
}

async function add(store: Store, stream: string, sequences: readonly number[]): Promise<void> {
  for (const sequence of sequences) await store.client.xadd(stream, `${sequence}-0`, 'n', sequence);
}

async function next(reader: StreamReader, count = 100): Promise<number[]> {
  return (await reader.next(count, 10_000)).map(({ sequence }) => sequence);
}

/** Reads of streams that the server has answered or will answer. */
async function readsOf(store: Store): Promise<number> {
  const stats = await store.client.info('commandstats');
  return Number(/cmdstat_xread:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

test('shared streams: entries of many streams are read with few calls, each stream in order', async () => {
  const store = await redis.openEmptyStore(1);
  const source = openSource(store);
  const names = Array.from({ length: 16 }, (_, number) => `s${number}`);
  const readers = names.map((name) => new StreamReader(source, name, 0));
  const first = Promise.all(readers.map((reader) => next(reader)));
  for (const name of names) await add(store, name, [1, 2]);
  const begun = await first;
  await Promise.all(
    readers.map(async (reader, at) => {
      const seen = [...(begun[at] ?? [])];
      while (seen.at(-1) !== 2) seen.push(...(await next(reader)));
      assert.deepEqual(seen, [1, 2]);
    }),
  );
  const before = await readsOf(store);
  const second = Promise.all(readers.map((reader) => next(reader)));
  const together = store.client.multi();
  for (const name of names) together.xadd(name, '3-0', 'n', 3);
  await together.exec();
  assert.deepEqual(
    await second,
    names.map(() => [3]),
  );
  const reads = (await readsOf(store)) - before;
  assert.ok(reads <= 4, `${reads} reads for entries added at the same time`);
});

test('shared streams: a stream that is added while others are awaited is read immediately', async () => {
  const store = await redis.openEmptyStore(1);
  const source = openSource(store);
  const quiet = new StreamReader(source, 'quiet', 0);
  const never = next(quiet);
  await add(store, 'late', [1]);
  assert.deepEqual(await next(new StreamReader(source, 'late', 0)), [1]);
  await add(store, 'quiet', [1]);
  assert.deepEqual(await never, [1]);
});

test('shared streams: entries written to several streams together reach their readers together', async () => {
  // The others wait for nothing on this connection.
  const store = await (await TestRedis.start()).openStore(1);
  const source = openSource(store);
  const names = ['a', 'b', 'c'];
  const readers = names.map((name) => new StreamReader(source, name, 0));
  const came: number[] = [];
  const reading = readers.map((reader, at) => next(reader).then(() => came.push(at)));
  await until('all are awaited', async () => /blocked_clients:1/.test(await store.client.info('clients')));
  const writing = store.client.multi();
  for (const name of names) writing.xadd(name, '1-0', 'n', 1);
  await writing.exec();
  await Promise.race(reading);
  await Promise.resolve();
  assert.equal(came.length, names.length);
  await Promise.all(reading);
});

test('shared streams: entries read ahead are returned in portions, and dropped when the reader seeks', async () => {
  const store = await redis.openEmptyStore(1);
  const source = openSource(store);
  const other = new StreamReader(source, 'other', 0);
  const waiting = next(other);
  await add(store, 'long', [1, 2, 3, 4, 5, 6]);
  const reader = new StreamReader(source, 'long', 0);
  assert.deepEqual(await next(reader, 2), [1, 2]);
  assert.deepEqual(await next(reader, 2), [3, 4]);
  reader.seek(1);
  assert.deepEqual(await next(reader, 3), [2, 3, 4]);
  assert.deepEqual(await next(reader, 3), [5, 6]);
  await add(store, 'other', [1]);
  assert.deepEqual(await waiting, [1]);
});

test('shared streams: a long stream with a slow reader is read to its end, whatever is read ahead', async () => {
  const store = await redis.openEmptyStore(1);
  const source = openSource(store);
  const sequences = Array.from({ length: 1500 }, (_, index) => index + 1);
  const adding = store.client.pipeline();
  for (const sequence of sequences) adding.xadd('long', `${sequence}-0`, 'n', sequence);
  await adding.exec();
  const quiet = new StreamReader(source, 'quiet', 0);
  const never = next(quiet);
  const reader = new StreamReader(source, 'long', 0);
  const seen: number[] = [];
  while (seen.length < sequences.length) seen.push(...(await next(reader, 7)));
  assert.deepEqual(seen, sequences);
  quiet.close();
  assert.deepEqual(await never, []);
});

test('shared streams: closing a reader and then its source ends a pending read without an error', async () => {
  const store = await redis.openEmptyStore(1);
  const source = openSource(store);
  const reader = new StreamReader(source, 'a', 0);
  const waiting = next(reader);
  reader.close();
  source.close();
  assert.deepEqual(await waiting, []);
});

test('shared streams: reading continues after Redis was killed and restarted', async () => {
  const durable = await TestRedis.start({ durable: true });
  const store = await durable.openEmptyStore(1);
  const source = openSource(store, 1);
  const readers = ['a', 'b'].map((name) => new StreamReader(source, name, 0));
  await add(store, 'a', [1]);
  await add(store, 'b', [1]);
  assert.deepEqual(await Promise.all(readers.map((reader) => next(reader))), [[1], [1]]);
  const waiting = Promise.all(readers.map((reader) => next(reader)));
  await durable.killServer();
  await durable.startServer();
  await add(store, 'a', [2]);
  await add(store, 'b', [2]);
  assert.deepEqual(await waiting, [[2], [2]]);
});

test('shared streams: a check of all streams returns what was added before it, once, during any other read', async () => {
  const store = await redis.openEmptyStore(1);
  const source = openSource(store, 20);
  const send: SendBehind = (name, words) => sendRaw(store.client, name, words);
  const names = ['a', 'b', 'c'];
  const readers = names.map((name) => new StreamReader(source, name, 0));
  const seen = new Map<string, number[]>(names.map((name) => [name, []]));
  let isOver = false;
  const following = Promise.all(
    readers.map(async (reader, at) => {
      while (!isOver) seen.get(names[at] ?? '')?.push(...(await next(reader)));
    }),
  );
  await until('all are read', async () => (await source.catchUp?.(send))?.size === 3);
  for (let sequence = 1; sequence <= 100; sequence += 1) {
    for (const name of names) {
      await add(store, name, [sequence]);
      const places = await source.catchUp?.(send);
      assert.equal(places?.get(name), `${sequence}-0`);
    }
  }
  isOver = true;
  for (const reader of readers) reader.close();
  await following;
  for (const name of names) {
    const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
    assert.deepEqual(seen.get(name), numbers, name);
  }
});

test('shared streams: ended cluster connections are not kept', async () => {
  const client = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true });
  const source = openStreamSource({ address: { kind: 'cluster', nodes: [] }, client } as unknown as Store);
  const over = (() => {
    const connection = source.connect('s');
    connection.close();
    return new WeakRef(connection);
  })();
  source.connect('s');
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  await until(
    'nobody has it',
    () => {
      collectGarbage();
      return over.deref() === undefined;
    },
    10_000,
  );
});
