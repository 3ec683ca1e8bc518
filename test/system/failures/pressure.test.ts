/** Overload: accepted pages are stored, and the rest is rejected. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { lowerPriority } from '../../../src/process/run-process.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { viewDifferences } from '../support/compare.ts';
import { entityOf } from '../support/data/entities.ts';
import { Ledger } from '../support/ledger.ts';
import { Reader } from '../support/processes/reader.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';
import { FreshViews } from '../support/tenant/fresh.ts';
import { differencesFoundByVerify } from '../support/verify.ts';

const mebibyte = 1024 * 1024;
/** Duration of the overload. For a long run, set MILLRACE_SECONDS to 120. */
const floodMs = 1000 * Number(process.env.MILLRACE_SECONDS ?? 4);
/**
 * A process of idle priority may starve while other tests run in parallel, so only a run by hand shows the effect of this
 * priority.
 */
const isByHand = process.env.MILLRACE_SECONDS !== undefined;
const backlogMax = 60;
/** Peak memory limits of a process, and of Redis. */
const processBytesMax = 700 * mebibyte;
const redisBytesMax = 300 * mebibyte;
const writers = 8;
/** Concurrent requests of the flood: more than the backlog allows. */
const connections = 128;
const pagesPerRequest = 25;
const floodedPages = 200;
/** Number of versions that a page cycles through, because an unchanged page causes no work. */
const contents = 16;
/** How long the capacity of a worker is measured, after a warm-up of the same length. */
const capacityMs = isByHand ? 3_000 : 1_000;
/** Minimum pages sent per second, because other load may have slowed the worker during the measurement. */
const floodMin = 5_000;
/** Number of the page that never changes. */
const steady = 1_000;

/** A view that is expensive to build: each of its entries is a separate lookup. */
const dear = siteFiles({
  schemas: {
    page: {
      triggers: { cms: ['page'] },
      route: { url: '/pages/{originId}' },
      properties: {
        title: '{p.title}',
        groups: {
          type: 'array',
          input: '{p.groups}',
          items: {
            type: 'array',
            var: 'other',
            input: { $lookup: { filter: 'p.group eq {item}', top: 20 } },
            items: '{other.originId}',
          },
        },
      },
    },
  },
});

function page(number: number, round: number): SourceEntity {
  const groups = Array.from({ length: 25 }, (_, index) => (number + index * 7) % 40);
  return entityOf(`p${number}`, 'page', {
    title: `Round ${round}`,
    group: number % 40,
    groups,
    text: 'x'.repeat(500),
  });
}

async function start(context: TestContext, env: Record<string, string>): Promise<System> {
  const started = System.start({ web: 1, workers: 1, jobs: 0, partitions: 2, files: dear, env });
  context.after(() => started.then((system) => system.stop()));
  return await started;
}

/** Peak memory of a process, in bytes. */
function peakBytes(pid: number): number {
  const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(found) * 1024;
}

async function redisMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

function quantiles(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}`;
}

async function assertAllTrue(system: System, ledger: Ledger): Promise<void> {
  const tenant = system.configuration.tenants.get('acme');
  assert.ok(tenant);
  const fresh = new FreshViews(tenant, new Map([[sourceId, ledger.entities()]]));
  const targets = ledger.originIds.map((originId) => ({ environmentId, sourceId, originId, alias: 'page' }));
  assert.deepEqual(await viewDifferences(system.client(), clientKey, targets, fresh), []);
  assert.deepEqual(await differencesFoundByVerify(system), []);
}

/** Sends the pages round-robin, so that no two queued versions of a page are equal. */
class Flood {
  accepted = 0;
  refused = 0;
  #sent = 0;

  constructor(
    private readonly client: Client,
    private readonly ledger: Ledger,
  ) {}

  async send(): Promise<void> {
    const pages = Array.from({ length: pagesPerRequest }, (_, index) => {
      const at = this.#sent + index;
      return page(at % floodedPages, Math.floor(at / floodedPages) % contents);
    });
    this.#sent += pagesPerRequest;
    if (await this.ledger.save(this.client, pages)) this.accepted += 1;
    else this.refused += 1;
  }

  /** Sends for `forMs`, with a fixed number of writers. */
  async press(forMs: number): Promise<void> {
    const endMs = performance.now() + forMs;
    await Promise.all(
      Array.from({ length: writers }, async () => {
        while (performance.now() < endMs) await this.send();
      }),
    );
  }

  /** Sends at a fixed rate, without waiting for responses. */
  async pour(pagesPerSecond: number, forMs: number): Promise<void> {
    const pauseMs = (1000 * pagesPerRequest) / pagesPerSecond;
    const startMs = performance.now();
    const sending: Promise<void>[] = [];
    for (let dueMs = startMs; dueMs < startMs + forMs; dueMs += pauseMs) {
      await sleep(Math.max(0, dueMs - performance.now()));
      sending.push(this.send());
    }
    await Promise.all(sending);
  }
}

/** Pages per second that the worker processes under constant load. */
async function capacity(system: System, flood: Flood): Promise<number> {
  await flood.press(capacityMs);
  await waitUntilSettled(await system.store());
  flood.accepted = 0;
  const startMs = performance.now();
  await flood.press(capacityMs);
  await waitUntilSettled(await system.store());
  return (1000 * flood.accepted * pagesPerRequest) / (performance.now() - startMs);
}

test(
  'pressure: ten times the ingest that the worker can process is rejected in part, and accepted work is done',
  oneRedisOnly,
  async (context) => {
    const system = await start(context, {
      INGEST_BACKLOG: String(backlogMax),
      WORKER_NICENESS: isByHand ? 'idle' : '5',
    });
    const redis = new Redis(system.redis.url);
    context.after(() => redis.disconnect());
    const client = system.client('web.1', connections);
    const ledger = new Ledger({ key: sourceKey, sourceId });
    assert.ok(await ledger.save(client, [page(0, 0), page(steady, 0)]));
    await waitUntilSettled(await system.store());

    assert.equal(getPriority(system.process('web.1').pid), getPriority());
    assert.ok(getPriority(system.process('worker.1').pid) > 0, 'the worker yields to the front');
    const reader = new Reader(
      clientKey,
      [0, steady].map((number) => `${system.url()}/v2?url=/pages/p${number}`),
    );
    context.after(() => reader.close());
    // In production, clients have their own processors. Here they share them with the platform, so they yield.
    if (isByHand) lowerPriority('idle');
    const flood = new Flood(client, ledger);
    const pagesPerSecond = await capacity(system, flood);
    await reader.read(500);
    const quiet = await reader.read(1_000);

    [flood.accepted, flood.refused] = [0, 0];
    const endMs = performance.now() + floodMs;
    let [largestBacklog, largestRedis, peak] = [0, 0, 0];
    const watch = async (): Promise<void> => {
      while (performance.now() < endMs) {
        largestBacklog = Math.max(largestBacklog, await system.metric('millrace_stream_backlog_entries'));
        largestRedis = Math.max(largestRedis, await redisMemory(redis));
        for (const name of ['web.1', 'worker.1']) peak = Math.max(peak, peakBytes(system.process(name).pid));
        await sleep(200);
      }
    };
    const [busy] = await Promise.all([
      reader.read(floodMs),
      watch(),
      flood.pour(Math.max(floodMin, 10 * pagesPerSecond), floodMs),
    ]);
    const { accepted, refused } = flood;
    context.diagnostic(
      `the worker does ${Math.round(pagesPerSecond)} pages/s; ` +
        `${accepted} requests of ${pagesPerRequest} accepted, ${refused} refused; backlog at most ${largestBacklog} entries; ` +
        `peak ${Math.round(peak / mebibyte)} MiB a process, Redis ${Math.round(largestRedis / mebibyte)} MiB; ` +
        `delivery ${quantiles(quiet)} ms quiet, ${quantiles(busy)} ms under it`,
    );
    assert.ok(accepted > 0 && refused > 0, `${accepted} accepted, ${refused} refused`);
    // Both partitions, plus requests in progress when the limit is reached, plus the entries of rebuilds.
    assert.ok(largestBacklog <= 3 * (backlogMax + writers), `${largestBacklog} entries waited`);
    assert.ok(peak < processBytesMax, `${peak} bytes in a process`);
    assert.ok(largestRedis < redisBytesMax, `${largestRedis} bytes in Redis`);

    await until('everything is accepted again', () => ledger.save(client, [page(0, -1)]), 120_000);
    const unsure = ledger.originIds.flatMap((originId) => {
      const states = ledger.possible(originId);
      const last = states.length > 1 ? states.at(-1) : null;
      return last ? [last] : [];
    });
    for (let at = 0; at < unsure.length; at += pagesPerRequest) {
      const pages = unsure.slice(at, at + pagesPerRequest);
      await until('sent again', () => ledger.save(client, pages));
    }
    await waitUntilSettled(await system.store());
    await assertAllTrue(system, ledger);
  },
);
