/** The guarantees of the transport, over Unix sockets and over TCP. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { queryUnsentBytesMax } from '../../../src/contract/limits.ts';
import type { InboundRequest, MessageBody, Reply } from '../../../src/query/transport/messages.ts';
import { runs } from '../../support/runs.ts';
import { SlowRedis } from '../../support/slow-redis.ts';
import { until } from '../../support/until.ts';
import { Random } from '../../system/support/random.ts';
import {
  ask,
  liveWorker,
  type OnRequest,
  startEnds,
  startFront,
  startListener,
  ways,
} from '../support/transport.ts';

for (const way of ways) {
  const name = way === 'path' ? 'file system' : 'TCP';
  const start = (context: TestContext, onRequest: OnRequest) => startEnds(context, way, onRequest);

  test(`transport over ${name}: every request gets its own reply, however many and however large`, async (context) => {
    const ends = await start(context, (request) => request.reply(['reply to', request.body]));
    const bodies = [...Array.from({ length: 300 }, (_, at) => `request ${at}`), 'ä'.repeat(10_000_000)];
    const replies = await Promise.all(bodies.map((body) => ask(ends, body, 30_000)));
    for (const [at, reply] of replies.entries()) {
      assert.deepEqual(reply, { kind: 'answer', body: ['reply to', bodies[at]] });
    }
  });

  test(`transport over ${name}: a body round-trips`, async (context) => {
    const ends = await start(context, (request) => request.reply(request.body));
    const leaf = fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true }).filter((number) => !Object.is(number, -0)),
      fc.string({ unit: 'grapheme' }),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    );
    const body = fc.oneof(leaf, fc.array(fc.oneof(leaf, fc.array(leaf))));
    const sent: MessageBody[] = fc.sample(body, 200);
    const replies = await Promise.all(sent.map((one) => ask(ends, one, 30_000)));
    assert.deepEqual(
      replies.map((reply) => (reply.kind === 'answer' ? reply.body : reply.reason)),
      sent,
    );
  });

  test(`transport over ${name}: a request without a reply ends at its deadline, and the worker knows the time left`, async (context) => {
    const leftMs: number[] = [];
    const ends = await start(context, ({ deadlineMs }) => leftMs.push(deadlineMs - performance.now()));
    assert.deepEqual(await ask(ends, 'late', 500), { kind: 'lost', reason: 'late' });
    const last = leftMs.at(-1) ?? 0;
    assert.ok(last > 0 && last <= 500, `${last} ms`);
  });

  test(`transport over ${name}: a reply that comes too late is discarded`, async (context) => {
    const late: InboundRequest[] = [];
    const ends = await start(context, (request) => {
      if (request.body === 'late') late.push(request);
      else request.reply(request.body);
    });
    assert.deepEqual(await ask(ends, 'late', 200), { kind: 'lost', reason: 'late' });
    for (const request of late) request.reply('too late');
    assert.deepEqual(await ask(ends, 'next', 30_000), { kind: 'answer', body: 'next' });
  });

  test(`transport over ${name}: a front that ends reports its open requests as lost`, async (context) => {
    const ends = await start(context, () => {});
    const asked = ask(ends, 'lost', 60_000);
    ends.transport.close();
    assert.deepEqual(await asked, { kind: 'lost', reason: 'closed' });
  });

  test(`transport over ${name}: requests to a worker that ended are lost, or cannot be sent`, async (context) => {
    const ends = await start(context, (request) => request.reply('answer'));
    await ends.listener.close();
    const outcome = await new Promise<Reply | null>((resolve) => {
      if (!ends.transport.send(ends.worker, 'nobody', 1_000, resolve)) resolve(null);
    });
    assert.notEqual(outcome?.kind, 'answer');
  });

  test(`transport over ${name}: each request ends once and is delivered at most once, whichever side ends first`, async (context) => {
    const replying = fc.constantFrom('at once', 'a turn later', 'never');
    const closing = fc.constantFrom('front', 'worker', 'nobody');
    const asking = fc.array(replying, { minLength: 1, maxLength: 400 });
    const oneRun = fc.asyncProperty(asking, closing, fc.nat(3), async (replies, closer, turns) => {
      const handed: MessageBody[] = [];
      const ends = await start(context, (request) => {
        if (typeof request.body !== 'number') return;
        handed.push(request.body);
        const reply = replies[request.body];
        if (reply === 'at once') request.reply(request.body);
        if (reply === 'a turn later') setImmediate(() => request.reply(request.body));
      });
      const ended = replies.map((): Reply[] => []);
      for (const at of replies.keys()) {
        assert.ok(ends.transport.send(ends.worker, at, 1_000, (reply) => ended[at]?.push(reply)));
      }
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      if (closer === 'front') ends.transport.close();
      if (closer === 'worker') await ends.listener.close();
      await until('all have ended', () => ended.every((one) => one.length > 0));
      assert.equal(new Set(handed).size, handed.length);
      for (const [at, [reply, ...more]] of ended.entries()) {
        assert.deepEqual(more, []);
        if (reply?.kind === 'answer') assert.equal(reply.body, at);
      }
      ends.transport.close();
      await ends.listener.close();
    });
    await fc.assert(oneRun, { numRuns: runs(10) });
  });

  test(`transport over ${name}: replies to a front that does not read are bounded, and it gets the rest later`, async (context) => {
    const inbound: InboundRequest[] = [];
    const ends = await start(context, (request) => {
      if (request.body === 'wait') inbound.push(request);
      else request.reply(request.body);
    });
    const megabyte = Buffer.alloc(1024 * 1024, 7);
    const asked = Array.from({ length: 200 }, () => ask(ends, 'wait', 60_000));
    await until('all were sent', () => inbound.length === 200);
    // One turn: nothing is sent in between.
    for (const request of inbound) request.reply(megabyte);
    const replies = await Promise.all(asked);
    const answers = replies.filter(({ kind }) => kind === 'answer').length;
    assert.ok(answers * megabyte.length <= queryUnsentBytesMax + 16 * megabyte.length, `${answers} answers`);
    assert.ok(answers > 0);
    const refused = replies.filter((reply) => reply.kind === 'lost' && reply.reason === 'unavailable');
    assert.equal(answers + refused.length, 200);
    assert.deepEqual(await ask(ends, 'next', 30_000), { kind: 'answer', body: 'next' });
  });
}

test('transport: replies are never mixed up on a network that stalls, delays and breaks, and a connection recovers', async (context) => {
  const random = Random.forTest('transport');
  const listener = await startListener(context, (request) => {
    if (random.chance(0.5)) request.reply(['reply to', request.body]);
    else setTimeout(() => request.reply(['reply to', request.body]), random.below(30));
  });
  const wire = await SlowRedis.start(() => listener.addresses.tcp?.port ?? 0);
  const transport = startFront(context);
  context.after(() => wire.stop());
  const tcp = { host: '127.0.0.1', port: wire.port };
  const worker = { id: 'worker', host: 'elsewhere', addresses: { socketPath: null, tcp } };
  // Another machine cannot be reached by the loopback address.
  assert.equal(
    transport.send(worker, 'nobody', 1_000, () => {}),
    false,
  );
  const here = liveWorker({ socketPath: null, tcp }, 'tcp');
  transport.follow([here]);
  let asked = 0;
  let answered = 0;
  const errors: unknown[] = [];
  const askOne = async () => {
    asked += 1;
    const body = [asked, 'x'.repeat(random.pick([10, 1_000, 200_000]))];
    const reply = await new Promise<Reply | null>((resolve) => {
      if (!transport.send(here, body, 500, resolve)) resolve(null);
    });
    if (reply?.kind !== 'answer') return await nextTurn();
    answered += 1;
    const [text, same] = reply.body as [string, MessageBody];
    if (text !== 'reply to' || JSON.stringify(same) !== JSON.stringify(body)) errors.push(reply.body);
  };
  let isOver = false;
  const lanes = Array.from({ length: 8 }, async () => {
    while (!isOver) await askOne();
  });
  for (let round = 0; round < 12; round += 1) {
    const before = answered;
    await until('answers arrive', () => answered > before + 20);
    const fault = random.pick(['break', 'stall', 'delay'] as const);
    if (fault === 'break') wire.breakAll();
    if (fault === 'delay') wire.delay(random.below(100));
    if (fault === 'stall') {
      wire.stall();
      await sleep(random.below(800));
      if (random.chance(0.5)) wire.breakAll();
      wire.resume();
    }
    if (random.chance(0.5)) wire.delay(0);
  }
  wire.delay(0);
  // Nothing indicates that these connections are dead.
  wire.forgetAll();
  const before = answered;
  await until('a new connection is opened', () => answered > before + 20, 30_000);
  isOver = true;
  await Promise.all(lanes);
  assert.deepEqual(errors, []);
});
