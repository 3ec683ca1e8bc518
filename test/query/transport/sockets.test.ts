import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rename, rm, stat, utimes } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/contract/json.ts';
import { FramedSocket, SocketListener, SocketTransport } from '../../../src/query/transport/sockets.ts';
import type { InboundRequest, LiveWorker } from '../../../src/query/transport/transport.ts';
import type { Reply } from '../../../src/store/streams/message-body.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { numbered, schemaIndex, startCluster } from '../support/cluster.ts';
import { tenantOf } from '../support/site.ts';

const redis = await TestRedis.start();
const host = hostname();

async function startListener(
  context: TestContext,
  onRequest: (request: InboundRequest) => void,
): Promise<SocketListener> {
  const listener = new SocketListener(onRequest);
  await listener.start();
  context.after(() => listener.close());
  return listener;
}

/** Until the test ends, what is temporary lies there. */
async function ownTemporaryFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sockets-'));
  const former = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  context.after(async () => {
    if (former === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = former;
    await rm(folder, { recursive: true });
  });
  return folder;
}

/** A front that is connected to one worker. */
async function connectTo(context: TestContext, { path: socketPath }: Pick<SocketListener, 'path'>) {
  const transport = new SocketTransport();
  context.after(() => transport.close());
  const worker = { id: 'worker', host, socketPath };
  await until('it is connected', () => canSend(transport, worker));
  const ask = (body: string, timeoutMs: number) =>
    new Promise<Reply>((resolve) => assert.ok(transport.send(worker, body, timeoutMs, resolve)));
  return { transport, worker, ask };
}

function canSend(transport: SocketTransport, worker: LiveWorker): boolean {
  return transport.send(worker, 'anybody', 1, () => {});
}

test('a worker that ends loses what it was asked at once, and is connected to again when it listens again', async (context) => {
  const listener = await startListener(context, () => {});
  const { transport, worker, ask } = await connectTo(context, listener);
  const asked = ask('lost', 60_000);
  await listener.close();
  assert.deepEqual(await asked, { kind: 'lost', reason: 'gone' });
  assert.equal(canSend(transport, worker), false);
  const server = createServer().listen(worker.socketPath ?? '');
  context.after(() => server.close());
  await until('it is connected again', () => canSend(transport, worker));
});

test('whoever sends what is no request is cut off, and others are answered', async (context) => {
  const listener = await startListener(context, (request) => request.reply('answer'));
  const { ask } = await connectTo(context, listener);
  const number = Buffer.from([1, 0, 0, 0, 9]);
  const shortList = Buffer.from([2, 0, 0, 0, 0x91, 1]);
  const cutList = Buffer.from([2, 0, 0, 0, 0x93, 1]);
  for (const said of [number, shortList, cutList]) {
    const stranger = createConnection(listener.path ?? '');
    stranger.write(said);
    await once(stranger, 'close');
  }
  assert.deepEqual(await ask('a', 20_000), { kind: 'answer', body: 'answer' });
});

test('a worker that sends what is no reply is cut off, and what it was asked is lost', async (context) => {
  const folder = await ownTemporaryFolder(context);
  const texts = fc.oneof(
    fc.string(),
    fc.constant(null),
    fc.integer(),
    fc.array(fc.string()),
    fc.dictionary(fc.string(), fc.nat()),
  );
  for (const [at, said] of [9, [1], [], ['1', 'a'], [1, 2, 3], null, ...fc.sample(texts, 20)].entries()) {
    const socketPath = path.join(folder, `${at}.sock`);
    const server = createServer((socket) => {
      const framed = new FramedSocket(socket, () => framed.send(said));
    }).listen(socketPath);
    context.after(() => server.close());
    const { ask } = await connectTo(context, { path: socketPath });
    assert.deepEqual(await ask('a', 60_000), { kind: 'lost', reason: 'gone' });
  }
});

test('a worker elsewhere, one without a socket, and one that does not listen are not reached', async (context) => {
  const listener = await startListener(context, () => {});
  const { transport } = await connectTo(context, listener);
  const others: LiveWorker[] = [
    { id: 'elsewhere', host: `${host}-2`, socketPath: listener.path },
    { id: 'silent', host, socketPath: `${listener.path}-nobody` },
    { id: 'without', host, socketPath: null },
  ];
  for (let times = 0; times < 3; times += 1) {
    for (const other of others) assert.equal(canSend(transport, other), false);
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('a socket lies where nobody else can enter, or there is none', async (context) => {
  const folder = await ownTemporaryFolder(context);
  const own = path.join(folder, `millrace-${process.getuid?.()}`);
  await mkdir(own, { mode: 0o755 });
  await chmod(own, 0o755);
  assert.equal((await startListener(context, () => {})).path, null);
  await chmod(own, 0o700);
  assert.match((await startListener(context, () => {})).path ?? '', /\.sock$/);
});

test('what a killed worker left behind is removed, what another one listens on is not', async (context) => {
  await ownTemporaryFolder(context);
  const other = await startListener(context, (request) => request.reply('alive'));
  const old = new Date(Date.now() - 3_600_000);
  await utimes(other.path ?? '', old, old);
  const killed = await startListener(context, () => {});
  // A server that is closed removes the file that it made, under its name.
  const dead = path.join(path.dirname(killed.path ?? ''), 'dead.sock');
  await rename(killed.path ?? '', dead);
  await killed.close();
  await utimes(dead, old, old);
  await startListener(context, () => {});
  await assert.rejects(stat(dead), { code: 'ENOENT' });
  const { ask } = await connectTo(context, other);
  assert.deepEqual(await ask('a', 1000), { kind: 'answer', body: 'alive' });
});

const tenant = tenantOf({ things: { size: 'integer' } });

test('queries go on over sockets when a worker dies and another takes its partitions', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 4, workers: 2, hasSocket: true });
  await cluster.write(schemaIndex('things'), numbered(50));
  const total = async () => (await cluster.query('things', { pagination: { pageSize: 0 } })).totalResults;
  assert.equal(await total(), 50);
  const [survivor, victim] = cluster.workers;
  if (survivor === undefined || victim === undefined) throw new Error('two workers');
  await victim.kill();
  const answers = Promise.all([total(), total()]);
  await victim.loseLeases();
  for (const partition of [1, 3]) await survivor.take(partition);
  survivor.beat();
  assert.deepEqual(await answers, [50, 50]);
  assert.ok(cluster.service.counters.retries > 0);
});

test('a front whose socket breaks asks through the streams until there is one again', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 2, workers: 1, hasSocket: true });
  await cluster.write(schemaIndex('things'), new Map([['a', { size: 1 }]]));
  const total = async () => (await cluster.query('things', {})).totalResults;
  const overSockets = () => cluster.service.counters.overSockets;
  await until('a query goes over the socket', async () => (await total()) === 1 && overSockets() > 0);
  const [worker] = cluster.workers;
  if (worker === undefined) throw new Error('one worker');
  const goesOver = async () => {
    const before = overSockets();
    assert.equal(await total(), 1);
    return overSockets() > before;
  };
  worker.hasSocket = false;
  worker.beat();
  await until('a query goes through the streams', async () => !(await goesOver()));
  worker.hasSocket = true;
  worker.beat();
  await until('a query goes over a socket again', goesOver);
});

for (const hasSocket of [true, false]) {
  const way = hasSocket ? 'over a socket' : 'through the streams';
  test(`results that are asked for together are what each is alone, ${way}`, async (context) => {
    const cluster = await startCluster(context, redis, tenant, { partitions: 2, workers: 1, hasSocket });
    await cluster.write(schemaIndex('things'), numbered(60));
    const target = { kind: 'index', alias: 'things' } as const;
    const bodies = Array.from({ length: 20 }, (_, size) => ({
      filters: { and: [{ field: 'size', operator: 'greaterThan', value: size * 3 }] },
      pagination: { pageSize: 60 },
    }));
    const texts = async (...asked: JsonObject[]) => {
      const outcomes = await cluster.run(target, ...asked);
      return outcomes.map((outcome) =>
        outcome.ok && outcome.result.kind === 'text' ? outcome.result.text.toString() : 'none',
      );
    };
    const alone: string[] = [];
    for (const body of bodies) alone.push(...(await texts(body)));
    assert.equal(new Set(alone).size, bodies.length);
    assert.deepEqual(await texts(...bodies), alone);
    assert.deepEqual((await Promise.all(bodies.map((body) => texts(body)))).flat(), alone);
    if (hasSocket) assert.ok(cluster.service.counters.overSockets > 0);
  });
}
