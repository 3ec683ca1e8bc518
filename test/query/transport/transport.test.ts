/** What every transport promises, whichever way it goes. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { SocketListener, SocketTransport } from '../../../src/query/transport/sockets.ts';
import { StreamListener, StreamTransport } from '../../../src/query/transport/streams.ts';
import type {
  InboundRequest,
  Listener,
  LiveWorker,
  Transport,
} from '../../../src/query/transport/transport.ts';
import type { MessageBody, Reply } from '../../../src/store/streams/message-body.ts';
import { TestRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();

interface Ends {
  readonly transport: Transport;
  readonly listener: Listener;
  readonly worker: LiveWorker;
}

type OnRequest = (request: InboundRequest) => void;

const adapters: Readonly<Record<string, (onRequest: OnRequest) => Promise<Ends>>> = {
  streams: async (onRequest) => {
    const store = await redis.openEmptyStore(1);
    const listener = new StreamListener(store, 'worker', onRequest);
    const transport = new StreamTransport(store, 'front');
    await Promise.all([listener.start(), transport.start()]);
    return { transport, listener, worker: { id: 'worker', host: 'anywhere', socketPath: null } };
  },
  sockets: async (onRequest) => {
    const listener = new SocketListener(onRequest);
    const transport = new SocketTransport();
    await Promise.all([listener.start(), transport.start()]);
    const worker = { id: 'worker', host: hostname(), socketPath: listener.path };
    return { transport, listener, worker };
  },
};

for (const [name, open] of Object.entries(adapters)) {
  async function start(context: TestContext, onRequest: OnRequest): Promise<Ends> {
    const ends = await open(onRequest);
    context.after(() => Promise.all([ends.transport.close(), ends.listener.close()]));
    await until('the worker is reached', () => ends.transport.send(ends.worker, 'anybody', 1, () => {}));
    return ends;
  }

  function ask({ transport, worker }: Ends, body: MessageBody, timeoutMs: number): Promise<Reply> {
    return new Promise((resolve) => assert.ok(transport.send(worker, body, timeoutMs, resolve)));
  }

  test(`${name}: every request gets its own reply, however many and however large`, async (context) => {
    const ends = await start(context, (request) => request.reply(['reply to', request.body]));
    const bodies = [...Array.from({ length: 300 }, (_, at) => `request ${at}`), 'ä'.repeat(10_000_000)];
    const replies = await Promise.all(bodies.map((body) => ask(ends, body, 30_000)));
    for (const [at, reply] of replies.entries()) {
      assert.deepEqual(reply, { kind: 'answer', body: ['reply to', bodies[at]] });
    }
  });

  test(`${name}: a body comes as it was sent`, async (context) => {
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

  test(`${name}: a request without a reply ends at its deadline, and the worker knows the time left`, async (context) => {
    const leftMs: number[] = [];
    const ends = await start(context, ({ deadlineMs }) => leftMs.push(deadlineMs - performance.now()));
    assert.deepEqual(await ask(ends, 'late', 500), { kind: 'lost', reason: 'late' });
    const last = leftMs.at(-1) ?? 0;
    assert.ok(last > 0 && last <= 500, `${last} ms`);
  });

  test(`${name}: a reply that comes too late is nobody's`, async (context) => {
    const late: InboundRequest[] = [];
    const ends = await start(context, (request) => {
      if (request.body === 'late') late.push(request);
      else request.reply(request.body);
    });
    assert.deepEqual(await ask(ends, 'late', 200), { kind: 'lost', reason: 'late' });
    for (const request of late) request.reply('too late');
    assert.deepEqual(await ask(ends, 'next', 30_000), { kind: 'answer', body: 'next' });
  });

  test(`${name}: a front that ends is told that what it asked is lost`, async (context) => {
    const ends = await start(context, () => {});
    const asked = ask(ends, 'lost', 60_000);
    await ends.transport.close();
    assert.deepEqual(await asked, { kind: 'lost', reason: 'closed' });
  });

  test(`${name}: what a worker that ended is asked is lost, or cannot be sent`, async (context) => {
    const ends = await start(context, (request) => request.reply('answer'));
    await ends.listener.close();
    const outcome = await new Promise<Reply | null>((resolve) => {
      if (!ends.transport.send(ends.worker, 'nobody', 1_000, resolve)) resolve(null);
    });
    assert.notEqual(outcome?.kind, 'answer');
  });

  test(`${name}: each request ends once and is handed over at most once, whatever ends when`, async (context) => {
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
      if (closer === 'front') await ends.transport.close();
      if (closer === 'worker') await ends.listener.close();
      await until('all have ended', () => ended.every((one) => one.length > 0));
      assert.equal(new Set(handed).size, handed.length);
      for (const [at, [reply, ...more]] of ended.entries()) {
        assert.deepEqual(more, []);
        if (reply?.kind === 'answer') assert.equal(reply.body, at);
      }
      await Promise.all([ends.transport.close(), ends.listener.close()]);
    });
    await fc.assert(oneRun, { numRuns: runs(10) });
  });
}
