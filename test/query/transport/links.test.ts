import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rename, rm, stat, utimes } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '../../../src/contract/json.ts';
import { packMoment } from '../../../src/query/protocol/wire.ts';
import { LinkServer } from '../../../src/query/transport/link-server.ts';
import { type LinkReply, WorkerLinks } from '../../../src/query/transport/worker-links.ts';
import type { InboundAsks } from '../../../src/query/worker/inbound-asks.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { schemaIndex, TestCluster } from '../support/cluster.ts';
import { tenantOf } from '../support/site.ts';

const redis = await TestRedis.start();
const host = hostname();

async function startServer(context: TestContext, onAsks: (asks: InboundAsks) => void): Promise<LinkServer> {
  const server = new LinkServer(onAsks);
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
  await until('the link is open', () => canAsk(links, 'worker'));
  return links;
}

const needs = [3, 4];
const moment = packMoment(new Map([[0, 7]]), () => 5, 'a configuration');

function canAsk(links: WorkerLinks, id: string): boolean {
  return links.ask(id, { needs, asks: 'anybody' }, 1, () => {});
}

function ask(links: WorkerLinks, asks: string, timeoutMs: number): Promise<LinkReply> {
  return new Promise((resolve) => {
    assert.ok(links.ask('worker', { needs, asks }, timeoutMs, resolve));
  });
}

function answersOf(reply: LinkReply): unknown {
  return reply.kind === 'answer' ? reply.body.answers : reply.reason;
}

test('every request over a link gets its own reply, however many and however large', async (context) => {
  const server = await startServer(context, (asks) =>
    asks.reply(moment, ['answer to', asks.request.asks, [...asks.request.needs]]),
  );
  const links = await linkTo(context, server.path);
  const texts = [...Array.from({ length: 300 }, (_, number) => `ask ${number % 50}`), 'ä'.repeat(10_000_000)];
  const replies = await Promise.all(texts.map((text) => ask(links, text, 20_000)));
  for (const [at, reply] of replies.entries()) {
    assert.deepEqual(answersOf(reply), ['answer to', texts[at], needs]);
  }
});

test('a reply says what the worker was when it answered, and that it could not', async (context) => {
  const text = Buffer.from('result');
  const server = await startServer(context, (asks) =>
    asks.reply(
      asks.request.asks === 'none' ? packMoment(new Map(), () => 0, null) : moment,
      asks.request.asks === 'none' ? null : [text],
    ),
  );
  const links = await linkTo(context, server.path);
  const [one, none, other] = await Promise.all(['a', 'none', 'b'].map((asks) => ask(links, asks, 20_000)));
  const said = { covers: new Map([[0, 7]]), applied: new Map([[0, 5]]), configuration: 'a configuration' };
  for (const reply of [one, other]) {
    assert.deepEqual(reply, { kind: 'answer', body: { moment: said, answers: [text] } });
  }
  const nothing = { covers: new Map(), applied: new Map(), configuration: null };
  assert.deepEqual(none, { kind: 'answer', body: { moment: nothing, answers: null } });
});

test('a request without a reply ends at its deadline, and the answering side knows the time left', async (context) => {
  const left: number[] = [];
  const server = await startServer(context, ({ deadlineMs }) => left.push(deadlineMs - performance.now()));
  const links = await linkTo(context, server.path);
  assert.deepEqual(await ask(links, 'late', 100), { kind: 'lost', reason: 'late' });
  const last = left.at(-1) ?? 0;
  assert.ok(last > 0 && last <= 100, `${last} ms`);
});

test('a worker that ends loses what it was asked at once, and has no link any more', async (context) => {
  const server = await startServer(context, () => {});
  const links = await linkTo(context, server.path);
  const asked = ask(links, 'lost', 60_000);
  await server.close();
  assert.deepEqual(await asked, { kind: 'lost', reason: 'gone' });
  assert.equal(canAsk(links, 'worker'), false);
});

test('whoever says over a link what is no request is cut off, and others are answered', async (context) => {
  const server = await startServer(context, (asks) => asks.reply(moment, ['answer']));
  const links = await linkTo(context, server.path);
  const unknownPlace = Buffer.alloc(4 + 4 + 24);
  unknownPlace.writeUInt32LE(4 + 24, 0);
  for (const said of [Buffer.from([1, 0, 0, 0, 9]), unknownPlace]) {
    const stranger = createConnection(server.path ?? '');
    stranger.write(said);
    await once(stranger, 'close');
  }
  assert.deepEqual(answersOf(await ask(links, 'a', 20_000)), ['answer']);
});

test('there is no link to a worker elsewhere, to one that is not told of, nor where nobody listens', async (context) => {
  const server = await startServer(context, (asks) => asks.reply(moment, ['here']));
  const links = await linkTo(context, server.path);
  links.follow([
    { id: 'elsewhere', host: `${host}-2`, link: server.path },
    { id: 'silent', host, link: `${server.path}-nobody` },
    { id: 'unlinked', host, link: null },
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  for (const id of ['worker', 'elsewhere', 'silent', 'unlinked']) assert.equal(canAsk(links, id), false);
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
  const other = await startServer(context, (asks) => asks.reply(moment, ['alive']));
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
  assert.deepEqual(answersOf(await ask(links, 'a', 1000)), ['alive']);
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
  survivor.beat();
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
  worker.beat();
  await until('a query goes through the streams', async () => !(await goesOver()));
  worker.isLinked = true;
  worker.beat();
  await until('a query goes over a link again', goesOver);
});

for (const isLinked of [true, false]) {
  const way = isLinked ? 'over a link' : 'through the streams';
  test(`results that are asked for together are what each is alone, ${way}`, async (context) => {
    const cluster = await TestCluster.start(redis, tenant, { partitions: 2, workers: 1, isLinked });
    context.after(() => cluster.stop());
    const items = new Map(Array.from({ length: 60 }, (_, size) => [`item-${size}`, { size }]));
    await cluster.write(schemaIndex('things'), items);
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
    if (isLinked) assert.ok(cluster.service.counters.linked > 0);
  });
}
