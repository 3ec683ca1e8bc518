import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rename, rm, stat, utimes } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/contract/json.ts';
import { UnavailableError } from '../../../src/query/query-service.ts';
import { FramedSocket } from '../../../src/query/transport/framed-socket.ts';
import {
  handshakeFrameBytesMax,
  transportKey,
  WorkerHandshake,
} from '../../../src/query/transport/handshake.ts';
import { announcedHost, isLoopback } from '../../../src/query/transport/listen-address.ts';
import type { LiveWorker } from '../../../src/query/transport/messages.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { numbered, schemaIndex, startCluster } from '../support/cluster.ts';
import { tenantOf } from '../support/site.ts';
import {
  ask,
  liveWorker,
  secret,
  startEnds,
  startFront,
  startListener,
  ways,
  workerId,
} from '../support/transport.ts';

const redis = await TestRedis.start();
const host = hostname();

/** Makes a temporary folder the default one until the test ends. */
async function useTemporaryFolder(context: TestContext): Promise<string> {
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

for (const way of ways) {
  test(`sockets: a worker that ends fails its open requests immediately, and its replacement is reached (${way})`, async (context) => {
    const first = await startEnds(context, way, () => {});
    const open = ask(first, 'lost', 60_000);
    await ask(first, 'late', 500);
    await first.listener.close();
    assert.deepEqual(await open, { kind: 'lost', reason: 'gone' });
    const { transport } = first;
    const listener = await startListener(context, (request) => request.reply('second'), {
      workerId: 'second',
    });
    const second = { transport, worker: liveWorker(listener.addresses, way, 'second') };
    assert.deepEqual(await ask(second, 'a', 30_000), { kind: 'answer', body: 'second' });
  });
}

test('sockets: a worker that sends invalid replies is disconnected, and its open requests fail', async (context) => {
  const texts = fc.oneof(
    fc.string(),
    fc.constant(null),
    fc.integer(),
    fc.array(fc.string()),
    fc.dictionary(fc.string(), fc.nat()),
  );
  for (const reply of [9, [], ['1', 'a'], [1, 2, 3], null, false, ...fc.sample(texts, 20)]) {
    const server = createServer((socket) => {
      const handshake = new WorkerHandshake(transportKey(secret), workerId);
      const framed = new FramedSocket(socket, handshakeFrameBytesMax, (frame) => {
        const greeting = handshake.isGreeted ? null : handshake.replyTo(frame);
        if (greeting !== null) framed.sendFrame(greeting);
        else framed.readMessages(() => framed.send(reply));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    context.after(() => server.close());
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const tcp = { host: '127.0.0.1', port: address.port };
    const transport = startFront(context);
    const worker = liveWorker({ socketPath: null, tcp }, 'tcp');
    assert.deepEqual(await ask({ transport, worker }, 'a', 60_000), { kind: 'lost', reason: 'gone' });
  }
});

test('sockets: a worker without an address, or that does not listen, is not reached, and the front reports why', async (context) => {
  const listener = await startListener(context, () => {});
  const { socketPath, tcp } = listener.addresses;
  assert.ok(socketPath !== null && tcp !== null);
  const closed = await startListener(context, () => {});
  const { addresses } = closed;
  await closed.close();
  const transport = startFront(context);
  const elsewhere = `${host}-2`;
  const workers: LiveWorker[] = [
    { id: 'old', host, addresses: null },
    { id: 'elsewhere', host: elsewhere, addresses: { socketPath, tcp } },
    { id: 'silent', host, addresses: { socketPath: `${socketPath}-nobody`, tcp: null } },
    { id: 'closed', host, addresses },
    // Another worker listens there.
    { id: 'other', host, addresses: { socketPath: null, tcp } },
    { id: workerId, host, addresses: { socketPath, tcp } },
  ];
  transport.follow(workers);
  await until('all are known', () => transport.unreachable.length === 5);
  for (const [at, reason] of [
    /^worker old: it announces no address/,
    new RegExp(`^worker elsewhere: .*its own machine, ${elsewhere}: set WORKER_HOST`),
    /^worker silent: no connection to .*-nobody \(ENOENT\)/,
    /^worker closed: no connection to 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/,
    /^worker other: .* is not this worker/,
  ].entries()) {
    assert.match(transport.unreachable[at] ?? '', reason);
  }
  transport.follow(workers.slice(-1));
  assert.deepEqual(transport.unreachable, []);
});

test('sockets: a front uses TCP if the Unix socket cannot be used', async (context) => {
  const listener = await startListener(context, (request) => request.reply('answer'));
  const { tcp } = listener.addresses;
  const worker = { id: workerId, host, addresses: { socketPath: '/nowhere/worker.sock', tcp } };
  const ends = { transport: startFront(context), worker };
  assert.deepEqual(await ask(ends, 'a', 30_000), { kind: 'answer', body: 'answer' });
});

test('sockets: a worker on another machine is reached at the address that it announces', async (context) => {
  const listen = { host: '0.0.0.0', port: 0, announced: null };
  const listener = await startListener(context, (request) => request.reply('answer'), { listen });
  const worker = { id: workerId, host: `${host}-2`, addresses: listener.addresses };
  const ends = { transport: startFront(context), worker };
  assert.deepEqual(await ask(ends, 'a', 30_000), { kind: 'answer', body: 'answer' });
});

test('sockets: a worker announces where it listens, unless an address is configured', async (context) => {
  const listen = { host: '0.0.0.0', port: 0, announced: null };
  const open = await startListener(context, () => {}, { listen });
  assert.ok(open.addresses.tcp !== null && !isLoopback(open.addresses.tcp.host));
  assert.equal(announcedHost('10.1.2.3'), '10.1.2.3');
  const announced = { host: 'worker-0.millrace-worker', port: 4101 };
  const given = await startListener(context, () => {}, { listen: { ...listen, announced } });
  assert.deepEqual(given.addresses.tcp, announced);
  const port = open.addresses.tcp.port;
  await assert.rejects(
    startListener(context, () => {}, { listen: { host: '0.0.0.0', port, announced: null } }),
    new RegExp(
      `cannot listen on 0\\.0\\.0\\.0:${port} for queries \\(EADDRINUSE\\): change WORKER_HOST or WORKER_PORT`,
    ),
  );
});

test('sockets: a socket is created only where nobody else has access', async (context) => {
  const folder = await useTemporaryFolder(context);
  const own = path.join(folder, `millrace-${process.getuid?.()}`);
  await mkdir(own, { mode: 0o755 });
  await chmod(own, 0o755);
  assert.equal((await startListener(context, () => {})).addresses.socketPath, null);
  await chmod(own, 0o700);
  assert.match((await startListener(context, () => {})).addresses.socketPath ?? '', /\.sock$/);
});

test('sockets: the socket of a killed worker is removed, but not one in use', async (context) => {
  await useTemporaryFolder(context);
  const other = await startListener(context, (request) => request.reply('alive'));
  const old = new Date(Date.now() - 3_600_000);
  const pathOf = ({ addresses }: typeof other) => addresses.socketPath ?? '';
  await utimes(pathOf(other), old, old);
  const killed = await startListener(context, () => {});
  // Closing a server removes the file that it created, by name.
  const dead = path.join(path.dirname(pathOf(killed)), 'dead.sock');
  await rename(pathOf(killed), dead);
  await killed.close();
  await utimes(dead, old, old);
  await startListener(context, () => {});
  await assert.rejects(stat(dead), { code: 'ENOENT' });
  const ends = { transport: startFront(context), worker: liveWorker(other.addresses, 'path') };
  assert.deepEqual(await ask(ends, 'a', 30_000), { kind: 'answer', body: 'alive' });
});

const tenant = tenantOf({ things: { size: 'integer' } });

for (const way of ways) {
  test(`sockets: queries continue when a worker dies and another takes its partitions (${way})`, async (context) => {
    const cluster = await startCluster(context, redis, tenant, { partitions: 4, workers: 2, way });
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
}

test('sockets: queries fail while a worker announces no address', async (context) => {
  const layout = { partitions: 2, workers: 1, way: 'none', queryWaitMs: 500 } as const;
  const cluster = await startCluster(context, redis, tenant, layout);
  await cluster.write(schemaIndex('things'), new Map([['a', { size: 1 }]]));
  const total = async () => (await cluster.query('things', {})).totalResults;
  await assert.rejects(total(), UnavailableError);
  assert.match(
    cluster.service.unreachableWorkers.join(),
    /accepts queries only from fronts on its own machine/,
  );
  const [worker] = cluster.workers;
  if (worker === undefined) throw new Error('one worker');
  worker.way = 'tcp';
  worker.beat();
  await until('it is queried', async () => (await total().catch(() => 0)) === 1);
  assert.deepEqual(cluster.service.unreachableWorkers, []);
});

for (const way of ways) {
  test(`sockets: results requested together equal those requested separately (${way})`, async (context) => {
    const cluster = await startCluster(context, redis, tenant, { partitions: 2, workers: 1, way });
    await cluster.write(schemaIndex('things'), numbered(60));
    const target = { kind: 'index', alias: 'things' } as const;
    const bodies = Array.from({ length: 20 }, (_, size) => ({
      filters: { and: [{ field: 'size', operator: 'greaterThan', value: size * 3 }] },
      pagination: { pageSize: 60 },
    }));
    const texts = async (...queries: JsonObject[]) => {
      const outcomes = await cluster.run(target, ...queries);
      return outcomes.map((outcome) =>
        outcome.ok && outcome.result.kind === 'text' ? outcome.result.text.toString() : 'none',
      );
    };
    const alone: string[] = [];
    for (const body of bodies) alone.push(...(await texts(body)));
    assert.equal(new Set(alone).size, bodies.length);
    assert.deepEqual(await texts(...bodies), alone);
    assert.deepEqual((await Promise.all(bodies.map((body) => texts(body)))).flat(), alone);
  });
}
