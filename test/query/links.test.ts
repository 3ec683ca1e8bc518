import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { FrameReader, frameOf } from '../../src/query/frames.ts';
import { LinkServer } from '../../src/query/link-server.ts';
import { WorkerLinks } from '../../src/query/worker-links.ts';
import type { InboundRequest } from '../../src/store/messages.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { schemaIndex, TestCluster } from './support/cluster.ts';
import { tenantOf } from './support/site.ts';

const redis = await TestRedis.start();
const host = hostname();

async function startServer(
  context: TestContext,
  onRequest: (request: InboundRequest) => void,
): Promise<LinkServer> {
  const server = new LinkServer(onRequest);
  await server.start();
  context.after(() => server.close());
  return server;
}

/** Until the test ends, what is temporary lies there. */
async function ownTemporaryFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'links-'));
  const former = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  context.after(async () => {
    if (former === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = former;
    await rm(folder, { recursive: true });
  });
  return folder;
}

/** Links of a front to one worker, open. */
async function linkTo(context: TestContext, link: string | null): Promise<WorkerLinks> {
  const links = new WorkerLinks();
  context.after(() => links.close());
  links.follow([{ id: 'worker', host, link }]);
  await until('the link is open', () => links.ask('worker', null, 1) !== null);
  return links;
}

test('frames are found however their stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 })),
      fc.infiniteStream(fc.integer({ min: 1, max: 60 })),
      (payloads, cuts) => {
        const stream = Buffer.concat(payloads.map(frameOf));
        const found: Uint8Array[] = [];
        const reader = new FrameReader((bytes) => found.push(Uint8Array.from(bytes)));
        for (let at = 0; at < stream.length; ) {
          const end = at + (cuts.next().value ?? 1);
          reader.take(stream.subarray(at, end));
          at = end;
        }
        assert.deepEqual(found, payloads);
      },
    ),
  );
});

test('every request over a link gets its own reply, however many and however large', async (context) => {
  const server = await startServer(context, (request) => request.reply(['answer to', request.body]));
  const links = await linkTo(context, server.path);
  const bodies = [...Array.from({ length: 300 }, (_, number) => number), 'x'.repeat(20_000_000), null];
  const replies = await Promise.all(bodies.map((body) => links.ask('worker', body, 20_000)));
  for (const [at, reply] of replies.entries()) {
    assert.deepEqual(reply, { kind: 'answer', body: ['answer to', bodies[at]] });
  }
});

test('a request without a reply ends at its deadline, and the answering side knows the time left', async (context) => {
  const left: number[] = [];
  const server = await startServer(context, ({ deadlineMs }) => left.push(deadlineMs - performance.now()));
  const links = await linkTo(context, server.path);
  assert.deepEqual(await links.ask('worker', 1, 100), { kind: 'lost', reason: 'late' });
  const last = left.at(-1) ?? 0;
  assert.ok(last > 0 && last <= 100, `${last} ms`);
});

test('a worker that ends loses what it was asked at once, and has no link any more', async (context) => {
  const server = await startServer(context, () => {});
  const links = await linkTo(context, server.path);
  const asked = links.ask('worker', 1, 60_000);
  await server.close();
  assert.deepEqual(await asked, { kind: 'lost', reason: 'gone' });
  assert.equal(links.ask('worker', 1, 60_000), null);
});

test('there is no link to a worker elsewhere, to one that is not told of, nor where nobody listens', async (context) => {
  const server = await startServer(context, (request) => request.reply('here'));
  const links = await linkTo(context, server.path);
  links.follow([
    { id: 'elsewhere', host: `${host}-2`, link: server.path },
    { id: 'silent', host, link: `${server.path}-nobody` },
    { id: 'unlinked', host, link: null },
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  for (const id of ['worker', 'elsewhere', 'silent', 'unlinked']) assert.equal(links.ask(id, 1, 50), null);
});

test('a link lies where nobody else can enter, or there is none', async (context) => {
  const folder = await ownTemporaryFolder(context);
  const own = path.join(folder, `millrace-${process.getuid?.()}`);
  await mkdir(own, { mode: 0o755 });
  await chmod(own, 0o755);
  assert.equal((await startServer(context, () => {})).path, null);
  await chmod(own, 0o700);
  assert.match((await startServer(context, () => {})).path ?? '', /\.sock$/);
});

test('what a killed worker left behind is removed, what another one listens on is not', async (context) => {
  await ownTemporaryFolder(context);
  const other = await startServer(context, (request) => request.reply('alive'));
  const old = new Date(Date.now() - 3_600_000);
  await utimes(other.path ?? '', old, old);
  const killed = await startServer(context, () => {});
  // A server that is closed removes the file that it made, under its name.
  const dead = path.join(path.dirname(killed.path ?? ''), 'dead.sock');
  await rename(killed.path ?? '', dead);
  await killed.close();
  await utimes(dead, old, old);
  await startServer(context, () => {});
  await assert.rejects(stat(dead), { code: 'ENOENT' });
  const links = await linkTo(context, other.path);
  assert.deepEqual(await links.ask('worker', 1, 1000), { kind: 'answer', body: 'alive' });
});

const tenant = tenantOf({ things: { size: 'integer' } });

test('queries go on over links when a worker dies and another takes its partitions', async (context) => {
  const cluster = await TestCluster.start(redis, tenant, { partitions: 4, workers: 2, isLinked: true });
  context.after(() => cluster.stop());
  const items = new Map(Array.from({ length: 50 }, (_, size) => [`item-${size}`, { size }]));
  await cluster.write(schemaIndex('things'), items);
  const total = async () => (await cluster.query('things', { pagination: { pageSize: 0 } })).totalResults;
  assert.equal(await total(), 50);
  const [survivor, victim] = cluster.workers;
  if (survivor === undefined || victim === undefined) throw new Error('two workers');
  await victim.kill();
  const answers = Promise.all([total(), total()]);
  await victim.loseLeases();
  for (const partition of [1, 3]) await survivor.take(partition);
  await survivor.beat();
  assert.deepEqual(await answers, [50, 50]);
  assert.ok(cluster.service.counters.retries > 0);
});

test('a front whose link breaks asks through the streams until there is one again', async (context) => {
  const cluster = await TestCluster.start(redis, tenant, { partitions: 2, workers: 1, isLinked: true });
  context.after(() => cluster.stop());
  await cluster.write(schemaIndex('things'), new Map([['a', { size: 1 }]]));
  const total = async () => (await cluster.query('things', {})).totalResults;
  const linked = () => cluster.service.counters.linked;
  await until('a query goes over the link', async () => (await total()) === 1 && linked() > 0);
  const [worker] = cluster.workers;
  if (worker === undefined) throw new Error('one worker');
  const goesOver = async () => {
    const before = linked();
    assert.equal(await total(), 1);
    return linked() > before;
  };
  worker.isLinked = false;
  await worker.beat();
  await until('a query goes through the streams', async () => !(await goesOver()));
  worker.isLinked = true;
  await worker.beat();
  await until('a query goes over a link again', goesOver);
});
