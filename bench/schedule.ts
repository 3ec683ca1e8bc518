/** `npm run bench -- schedule`: how late a publication is visible, and the cost of many at the same time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { BenchContext, Target } from './support/bench.ts';
import { citiesTenant } from './support/data/cities-tenant.ts';
import { cityEntities, type Entity } from './support/data/sets.ts';
import type { BenchTenant } from './support/data/tenant.ts';
import { noLatencies, type ProbeLatencies, probeReads, probeSaves } from './support/fairness-probes.ts';
import { Client } from './support/load/client.ts';
import { bytesByKind } from './support/platform/redis-kinds.ts';
import { System } from './support/platform/system.ts';
import { quantile, ratiosOf, spreadOf } from './support/report/statistics.ts';
import { figure, spreadFigure } from './support/report/table.ts';
import { inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

const neighbour: BenchTenant = { ...citiesTenant, alias: 'neighbour' };
const plain: BenchTenant = { ...citiesTenant, alias: 'plain' };
const scheduled: BenchTenant = { ...citiesTenant, alias: 'scheduled' };
const waiting: BenchTenant = { ...citiesTenant, alias: 'waiting' };
const bare: BenchTenant = { alias: 'bare', schemas: {} };
/** Interval between the single publications of a round. */
const moments = 40;
const momentEveryMs = 250;
/** Between the end of the import and the time of the burst. */
const restMs = 3_000;
const farAway = '2999-01-01T00:00:00Z';
const bytesMax = 100;
const promised = { saved: [50, 300], seen: [200, 500], page: [null, 100], query: [null, 100] } as const;

interface Measured {
  readonly lateMs: readonly number[];
  readonly imported: Beside;
  readonly burst: Beside;
  readonly bytes: number;
}

await runBench({
  name: 'schedule',
  question:
    'How late is a publication visible, and does a burst delay anybody? Single pages (cities) that are published 250 ms apart on an idle platform; then all entities at the same time, while another tenant saves, reads and queries, compared with an import of them; and the memory of a scheduled entity in Redis.',
  caveats: [
    'Millrace is compared with itself. The front, one worker, Redis and the measuring process share the two cores.',
    'A single publication is detected by polling the page, so its figure includes the time of a request.',
    'The rate of the burst counts from the publication time, that of the import from its first request, each until every route exists.',
    'Bytes are the growth of the records of entities and the schedule for entities with a time, minus the growth for the same entities without one.',
  ],
  async run(context) {
    const all = await cityEntities(context.quick ? 4_000 : Number.POSITIVE_INFINITY);
    const cities = all.filter(({ type, url }) => type === 'city' && url !== null);
    const entities = cities.slice(0, context.quick ? 1_000 : 10_000);
    const results = await inRounds(context, [
      { name: 'schedule', measure: (round) => measured(context, round, entities) },
    ]);
    const rounds = results.get('schedule') ?? [];
    const late = rounds.flatMap(({ lateMs }) => lateMs);
    const rates = (name: 'imported' | 'burst') => rounds.map((round) => round[name].perSecond);
    const noticed = merged(rounds.map(({ burst }) => burst.noticed));
    const ofImport = merged(rounds.map(({ imported }) => imported.noticed));
    const kept = spreadOf(ratiosOf(rates('burst'), rates('imported')));
    const bytes = spreadOf(rounds.map((round) => round.bytes));
    const p99 = quantile(late, 0.99);
    return {
      tables: [
        {
          title: 'Milliseconds, in the median and at p99',
          columns: ['', 'p50', 'p99', 'most'],
          rows: [
            ['a page, after its moment', ...figuresOf(late)],
            ["beside the import: another tenant's single save", ...figuresOf(ofImport.saved)],
            ['read with its version', ...figuresOf(ofImport.seen)],
            ["another tenant's page", ...figuresOf(ofImport.page)],
            ["another tenant's query", ...figuresOf(ofImport.query)],
            ["beside the burst: another tenant's single save", ...figuresOf(noticed.saved)],
            ['read with its version', ...figuresOf(noticed.seen)],
            ["another tenant's page", ...figuresOf(noticed.page)],
            ["another tenant's query", ...figuresOf(noticed.query)],
          ],
        },
        {
          title: `${entities.length.toLocaleString('en-US')} entities`,
          columns: ['', 'figure (quartiles)'],
          rows: [
            ['import, entities/s', spreadFigure(spreadOf(rates('imported')))],
            ['published at one moment, entities/s', spreadFigure(spreadOf(rates('burst')))],
            ['bytes of Redis for the time of an entity', spreadFigure(bytes)],
          ],
        },
      ],
      charts: [],
      targets: [
        {
          text: 'a page after its moment at p99, ms (≤ 1,000)',
          figure: figure(p99),
          isReached: p99 <= 1_000,
        },
        {
          text: 'rate of the burst over that of the import (≥ 1)',
          figure: spreadFigure(kept),
          isReached: kept.median >= 1,
        },
        {
          text: `bytes of Redis for the time of an entity (≤ ${bytesMax})`,
          figure: spreadFigure(bytes),
          isReached: bytes.median <= bytesMax,
        },
        ...targetsOf('single save', 'saved', noticed),
        ...targetsOf('single save until read', 'seen', noticed),
        ...targetsOf('page', 'page', noticed),
        ...targetsOf('query', 'query', noticed),
      ],
    };
  },
});

async function measured(
  context: BenchContext,
  round: number,
  entities: readonly Entity[],
): Promise<Measured> {
  const tenants = [neighbour, plain, scheduled, waiting, bare];
  const system = await System.start(context, { tenants });
  const redis = new Redis(system.redisUrl);
  const { baseUrl } = system;
  await new Client(context, baseUrl, neighbour).importEntities(entities.slice(0, 1_000));
  const lateMs = await singleMoments(context, redis, new Client(context, baseUrl, waiting), entities);
  const importing = () => importOf(context, baseUrl, entities);
  const isImportFirst = round % 2 === 0;
  const first = isImportFirst ? await importing() : null;
  const burst = await burstOf(context, baseUrl, redis, entities);
  const imported = first ?? (await importing());
  const bytes = await bytesOfTime(context, system, entities);
  redis.disconnect();
  await system.stop();
  context.say(
    `late ${figuresOf(lateMs)} ms; ${figure(bytes)} bytes; import ${besideText(imported)}; burst ${besideText(burst)}`,
  );
  return { lateMs, imported, burst, bytes };
}

async function singleMoments(
  context: BenchContext,
  redis: Redis,
  client: Client,
  cities: readonly Entity[],
): Promise<number[]> {
  const pages = cities.slice(0, context.quick ? 4 : moments);
  const beginMs = (await timeMs(redis)) + 1_000;
  const timed = pages.map((page, at) => ({ page, atMs: beginMs + at * momentEveryMs }));
  for (const { page, atMs } of timed) await client.save([{ ...page, ...publishedAt(atMs) }]);
  const late: number[] = [];
  for (const { page, atMs } of timed) {
    await sleep(Math.max(0, atMs - (await timeMs(redis))));
    while ((await client.page(page.url ?? '')) === null) context.signal.throwIfAborted();
    late.push((await timeMs(redis)) - atMs);
  }
  return late;
}

/** Milliseconds of an import or a burst, until all routes exist, and its effect on another tenant. */
interface Beside {
  readonly perSecond: number;
  readonly noticed: ProbeLatencies;
}

async function besideProbes(
  baseUrl: string,
  entities: readonly Entity[],
  act: () => Promise<number>,
): Promise<Beside> {
  let isOver = false;
  const probes = Promise.all([
    probeSaves(baseUrl, neighbour, entities, () => isOver),
    probeReads(baseUrl, neighbour, entities[0]?.url ?? '/', () => isOver),
  ]);
  probes.catch(() => {});
  const tookMs = await act();
  isOver = true;
  const [saves, reads] = await probes;
  return {
    perSecond: entities.length / (tookMs / 1000),
    noticed: { ...reads, saved: saves.saved, seen: saves.seen },
  };
}

function importOf(context: BenchContext, baseUrl: string, entities: readonly Entity[]): Promise<Beside> {
  const client = new Client(context, baseUrl, plain);
  return besideProbes(baseUrl, entities, async () => {
    const startedMs = performance.now();
    await client.importEntities(entities);
    await client.waitForRoutes(routesOf(entities));
    return performance.now() - startedMs;
  });
}

async function burstOf(
  context: BenchContext,
  baseUrl: string,
  redis: Redis,
  entities: readonly Entity[],
): Promise<Beside> {
  const client = new Client(context, baseUrl, scheduled);
  // Twice as long as an import at 1,000 a second takes.
  const atMs = (await timeMs(redis)) + 2 * entities.length + restMs;
  await client.importEntities(entities.map((entity) => ({ ...entity, ...publishedAt(atMs) })));
  await sleep(Math.max(0, atMs - (await timeMs(redis))));
  return await besideProbes(baseUrl, entities, async () => {
    await client.waitForRoutes(routesOf(entities));
    return (await timeMs(redis)) - atMs;
  });
}

/** Growth of the records of entities and the schedule, for entities with a time and for the same ones without. */
async function bytesOfTime(
  context: BenchContext,
  system: System,
  entities: readonly Entity[],
): Promise<number> {
  const client = new Client(context, system.baseUrl, bare);
  const bytes = async () => {
    const kinds = await bytesByKind(system, bare.alias);
    return (kinds.get('entities') ?? 0) + (kinds.get('schedule') ?? 0);
  };
  const growth = async (prefix: string, rest: object) => {
    const before = await bytes();
    await client.importEntities(
      entities.map(({ originId, ...entity }) => ({ ...entity, ...rest, originId: prefix + originId })),
    );
    await sleep(restMs);
    return ((await bytes()) - before) / entities.length;
  };
  // The first of them pays for keys that both have.
  await growth('first-', {});
  const without = await growth('plain-', {});
  return (await growth('timed-', { publishAt: farAway })) - without;
}

function publishedAt(ms: number): { readonly publishAt: string } {
  return { publishAt: new Date(ms).toISOString() };
}

function routesOf(entities: readonly Entity[]): number {
  return entities.reduce((sum, { redirects }) => sum + 1 + redirects.length, 0);
}

async function timeMs(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Number(microseconds) / 1000;
}

function merged(list: readonly ProbeLatencies[]): ProbeLatencies {
  const all = noLatencies();
  for (const name of ['saved', 'seen', 'page', 'query'] as const) {
    for (const noticed of list) all[name].push(...noticed[name]);
  }
  return all;
}

function besideText({ perSecond, noticed: { saved, seen, page, query } }: Beside): string {
  const times = [saved, seen, page, query].map(figuresOf).join('; ');
  return `${figure(perSecond)}/s (saved, seen, page, query: ${times})`;
}

function figuresOf(times: readonly number[]): string[] {
  return [0.5, 0.99, 1].map((share) => figure(quantile(times, share)));
}

function targetsOf(text: string, name: keyof typeof promised, noticed: ProbeLatencies): Target[] {
  return promised[name].flatMap((most, index) => {
    if (most === null) return [];
    const [label, share] = index === 0 ? ['in the median', 0.5] : ['at p99', 0.99];
    const ms = quantile(noticed[name], share);
    return [{ text: `${text} ${label}, ms (≤ ${most})`, figure: figure(ms), isReached: ms <= most }];
  });
}
