/** Slow, stalling and broken networks between the processes and Redis, and clients that behave as badly. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { SlowRedis } from '../../support/slow-redis.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { viewDifferences } from '../support/compare.ts';
import { entityOf } from '../support/data/entities.ts';
import { Ledger, untilVisible } from '../support/ledger.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';
import { FreshViews } from '../support/tenant/fresh.ts';
import { differencesFoundByVerify } from '../support/verify.ts';

/** Longer than a lease. For a long run, set MILLRACE_SECONDS to 30. */
const stallMs = 1000 * Number(process.env.MILLRACE_SECONDS ?? 7);
const redisTimeoutSeconds = 2;
const pageCount = 200;
const idleConnections = Number(process.env.MILLRACE_CONNECTIONS ?? 1_000);

const files = siteFiles({
  schemas: {
    page: {
      triggers: { cms: ['page'] },
      route: { url: '{url}' },
      properties: {
        title: '{p.title}',
        children: {
          type: 'array',
          input: { $lookup: { filter: 'originParentId eq {originId}' } },
          items: '{item.originId}',
        },
      },
    },
  },
});

function page(random: Random, number: number): SourceEntity {
  const parent = random.chance(0.5) ? `p${random.below(20)}` : null;
  return entityOf(
    `p${number}`,
    'page',
    { title: `T${random.below(10_000)}` },
    { url: `/p/${number}`, originParentId: parent },
  );
}

/** Saves until stopped, and records the slowest response, whatever its status. */
class Writing {
  #isRunning = true;
  slowestMs = 0;
  readonly #work: Promise<void>;

  constructor(client: Client, ledger: Ledger, random: Random) {
    this.#work = this.#write(client, ledger, random);
  }

  async #write(client: Client, ledger: Ledger, random: Random): Promise<void> {
    while (this.#isRunning) {
      await sleep(20);
      const numbers = random.shuffled(Array.from({ length: pageCount }, (_, number) => number)).slice(0, 10);
      const startMs = performance.now();
      await ledger.save(
        client,
        numbers.map((number) => page(random, number)),
      );
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startMs);
    }
  }

  async end(): Promise<void> {
    this.#isRunning = false;
    await this.#work;
  }
}

test(
  'network: a Redis that hangs, is slow and drops connections only costs time',
  oneRedisOnly,
  async (context) => {
    const random = Random.forTest('network');
    let redisPort = 0;
    const wire = await SlowRedis.start(() => redisPort);
    const env = { REDIS_URL: wire.url, REDIS_TIMEOUT_SECONDS: String(redisTimeoutSeconds) };
    const started = System.start({
      web: 1,
      workers: 2,
      jobs: 0,
      partitions: 4,
      files,
      env,
      onRedis: (port) => {
        redisPort = port;
      },
    });
    context.after(() => started.then((system) => system.stop()).finally(() => wire.stop()));
    const system = await started;
    const client = system.client();
    const ledger = new Ledger({ key: sourceKey, sourceId });
    const all = Array.from({ length: pageCount }, (_, number) => page(random, number));
    for (let at = 0; at < all.length; at += 50) assert.ok(await ledger.save(client, all.slice(at, at + 50)));
    await waitUntilSettled(await system.store());

    const writing = new Writing(client, ledger, random);
    try {
      wire.stall();
      const endMs = performance.now() + stallMs;
      while (performance.now() < endMs) {
        const { status, headers } = await client.get('/v2?url=/p/1', { key: clientKey });
        assert.ok(status === 200 || status === 503, String(status));
        if (status === 503) assert.ok(headers['retry-after']);
        assert.equal((await client.get('/health/live')).status, 200, 'the front itself answers');
        await sleep(200);
      }
      wire.resume();
      const { answered } = ledger;
      await until('writes continue', () => ledger.answered > answered + 5);

      wire.delay(100);
      await sleep(2_000);
      wire.delay(0);
      for (let round = 0; round < 10; round += 1) {
        wire.breakAll();
        await sleep(random.below(300));
      }
      const { answered: before } = ledger;
      await until('writes continue', () => ledger.answered > before + 5);
    } finally {
      await writing.end();
    }
    context.diagnostic(
      `slowest answer ${Math.round(writing.slowestMs)} ms; ${ledger.answered} writes answered, ${ledger.unanswered} not`,
    );
    assert.ok(writing.slowestMs < 1000 * (2 * redisTimeoutSeconds + 8), 'no request is stuck');

    await system.ready();
    for (const originId of ledger.originIds) {
      const states = ledger.possible(originId);
      const last = states.at(-1);
      if (states.length > 1 && last) assert.ok(await ledger.save(client, [last]));
    }
    await untilVisible(client, clientKey, ledger.takeVersions().slice(-20));
    await waitUntilSettled(await system.store());
    const tenant = system.configuration.tenants.get('acme');
    assert.ok(tenant);
    const fresh = new FreshViews(tenant, new Map([[sourceId, ledger.entities()]]));
    const targets = ledger.originIds.map((originId) => ({
      environmentId,
      sourceId,
      originId,
      alias: 'page',
    }));
    assert.deepEqual(await viewDifferences(client, clientKey, targets, fresh), []);
    assert.deepEqual(await differencesFoundByVerify(system), []);
  },
);

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}

test('network: clients that send nothing, disconnect during a body or never read do not affect others', async (context) => {
  const started = System.start({ web: 1, workers: 1, jobs: 0, partitions: 2, files });
  context.after(() => started.then((system) => system.stop()));
  const system = await started;
  const client = system.client();
  const ledger = new Ledger({ key: sourceKey, sourceId });
  const random = Random.forTest('clients');
  for (let at = 0; at < pageCount; at += 50) {
    const portion = Array.from({ length: 50 }, (_, number) => page(random, at + number));
    assert.ok(await ledger.save(client, portion));
  }
  await waitUntilSettled(await system.store());
  const port = Number(new URL(system.url()).port);
  const sockets: Socket[] = [];
  context.after(() => {
    for (const socket of sockets) socket.destroy();
  });

  for (let at = 0; at < idleConnections; at += 100) {
    const portion = Array.from({ length: Math.min(100, idleConnections - at) }, () => opened(port));
    sockets.push(...(await Promise.all(portion)));
  }
  const body = Buffer.alloc(4 * 1024 * 1024, ' ');
  const head = (length: number) =>
    `POST /ingest/v2 HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${sourceKey}\r\nContent-Length: ${length}\r\n\r\n`;
  for (let number = 0; number < 20; number += 1) {
    const vanishing = await opened(port);
    vanishing.on('error', () => {});
    vanishing.write(head(body.length * 4));
    vanishing.write(body, () => vanishing.resetAndDestroy());
    const deaf = await opened(port);
    deaf.on('error', () => {});
    deaf.pause();
    const ids = Array.from({ length: 50 }, (_, id) => `handle=h${id}`).join('&');
    const asked = `GET /v2?url=/p/1&${ids} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${clientKey}\r\n\r\n`;
    deaf.write(asked.repeat(200));
    sockets.push(deaf);
  }
  for (let round = 0; round < 50; round += 1) {
    assert.equal((await client.get(`/v2?url=/p/${round}`, { key: clientKey })).json.meta.status, 200);
    assert.ok(await ledger.save(client, [page(random, round)]));
  }
  await until(
    'nothing of the aborted bodies is kept',
    async () => (await system.metric('millrace_http_body_bytes')) === 0,
    30_000,
  );
  context.diagnostic(`${sockets.length} connections stood open`);
});
