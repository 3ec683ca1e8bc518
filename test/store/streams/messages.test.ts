import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { pack } from '../../../src/store/codec/pack.ts';
import { keys } from '../../../src/store/keys.ts';
import type { Store } from '../../../src/store/store.ts';
import { type InboundRequest, RequestReceiver, RequestSender } from '../../../src/store/streams/messages.ts';
import { ownStreamTtlMs } from '../../../src/store/streams/own-stream.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();

async function startSender(context: TestContext, store: Store, id = 'front'): Promise<RequestSender> {
  const sender = new RequestSender(store, id);
  await sender.start();
  context.after(() => sender.close());
  return sender;
}

async function startReceiver(
  context: TestContext,
  store: Store,
  onRequest: (request: InboundRequest) => void,
  id = 'worker',
): Promise<RequestReceiver> {
  const receiver = new RequestReceiver(store, id, onRequest);
  await receiver.start();
  context.after(() => receiver.close());
  return receiver;
}

test('a request is answered with what its body asked for', async (context) => {
  const store = await redis.openEmptyStore(1);
  await startReceiver(context, store, ({ body, reply }) => reply(['answer to', body]));
  const sender = await startSender(context, store);
  const body = [1, 'two', null, true, ['ü\u0000', [0.5]]];
  assert.deepEqual(await sender.ask('worker', body, 1000), { kind: 'answer', body: ['answer to', body] });
});

test('requests of one turn travel as one entry, and every front gets its own replies', async (context) => {
  const store = await redis.openEmptyStore(1);
  await startReceiver(context, store, ({ body, reply }) => reply(body));
  const fronts = [await startSender(context, store, 'front-1'), await startSender(context, store, 'front-2')];
  const asked = fronts.flatMap((front, index) =>
    Array.from({ length: 300 }, (_, number) => front.ask('worker', `${index}:${number}`, 5000)),
  );
  const replies = await Promise.all(asked);
  replies.forEach((reply, position) => {
    const expected = `${Math.floor(position / 300)}:${position % 300}`;
    assert.deepEqual(reply, { kind: 'answer', body: expected });
  });
  assert.deepEqual(
    fronts.map(({ entriesSent }) => entriesSent),
    [1, 1],
  );
});

test('a process that is not there is told at once, and asking it leaves nothing behind', async (context) => {
  const store = await redis.openEmptyStore(1);
  const sender = await startSender(context, store);
  assert.deepEqual(await sender.ask('nobody', 1, 5000), { kind: 'lost', reason: 'gone' });
  assert.equal(await store.client.exists(keys.requests('nobody')), 0);
});

test('a request without a reply ends at its deadline, and a reply after it is dropped', async (context) => {
  const store = await redis.openEmptyStore(1);
  const kept: InboundRequest[] = [];
  await startReceiver(context, store, (request) => {
    if (request.body === 'slow') kept.push(request);
    else request.reply('quick');
  });
  const sender = await startSender(context, store);
  assert.deepEqual(await sender.ask('worker', 'slow', 100), { kind: 'lost', reason: 'late' });
  for (const request of kept) request.reply('too late');
  assert.deepEqual(await sender.ask('worker', 'x', 1000), { kind: 'answer', body: 'quick' });
});

test('a request that waited beyond its deadline is not worked on', async (context) => {
  const store = await redis.openEmptyStore(1);
  const worked: unknown[] = [];
  const receiver = new RequestReceiver(store, 'worker', ({ body }) => worked.push(body));
  // The entry lies there before the worker reads: as if it had been busy.
  const packed = pack([
    ['front', 1, 50, 'stale'],
    ['front', 2, 60_000, 'fresh'],
  ]);
  await store.client.xadd(keys.requests('worker'), '*', 'b', packed);
  await setTimeout(120);
  await receiver.start();
  context.after(() => receiver.close());
  await until('the fresh one is worked on', () => worked.length > 0);
  assert.deepEqual(worked, ['fresh']);
  assert.equal(receiver.stale, 1);
});

test('a handed over request says how long its asker still waits', async (context) => {
  const store = await redis.openEmptyStore(1);
  const left: number[] = [];
  await startReceiver(context, store, ({ deadlineMs, reply }) => {
    left.push(deadlineMs - performance.now());
    reply(null);
  });
  const sender = await startSender(context, store);
  await sender.ask('worker', 1, 2000);
  const [leftMs = 0] = left;
  assert.ok(leftMs > 1500 && leftMs <= 2000, `${leftMs} ms`);
});

test('answers of many megabytes arrive whole and in any number', async (context) => {
  const store = await redis.openEmptyStore(1);
  await startReceiver(context, store, ({ body, reply }) => reply(`${body}`.repeat(3_000_000)));
  const sender = await startSender(context, store);
  const replies = await Promise.all(['a', 'b', 'c', 'd'].map((body) => sender.ask('worker', body, 10_000)));
  for (const [index, reply] of replies.entries()) {
    assert.equal(reply.kind === 'answer' && reply.body, 'abcd'.charAt(index).repeat(3_000_000));
  }
  await until('what was read is trimmed', async () => (await store.client.xlen(keys.replies('front'))) === 0);
});

test('streams expire by themselves when their process is killed, and end with it when it stops', async (context) => {
  const store = await redis.openEmptyStore(1);
  const receiver = new RequestReceiver(store, 'worker', () => {});
  await receiver.start();
  await startSender(context, store);
  for (const key of [keys.requests('worker'), keys.replies('front')]) {
    const leftMs = await store.client.pttl(key);
    assert.ok(leftMs > 0 && leftMs <= ownStreamTtlMs, `${key}: ${leftMs}`);
  }
  await receiver.close();
  assert.equal(await store.client.exists(keys.requests('worker')), 0);
});

test('a stream that was lost is made again, and requests get through', async (context) => {
  const store = await redis.openEmptyStore(1);
  await startReceiver(context, store, ({ body, reply }) => reply(body));
  const sender = await startSender(context, store);
  await store.client.del(keys.requests('worker'), keys.replies('front'));
  await until('an answer comes', async () => (await sender.ask('worker', 1, 500)).kind === 'answer');
});

test('what is still asked when a front closes ends as lost', async () => {
  const store = await redis.openEmptyStore(1);
  const receiver = new RequestReceiver(store, 'worker', () => {});
  await receiver.start();
  const sender = new RequestSender(store, 'front');
  await sender.start();
  const asked = sender.ask('worker', 1, 60_000);
  await sender.close();
  assert.deepEqual(await asked, { kind: 'lost', reason: 'closed' });
  await receiver.close();
});
