/** `npm run bench -- capacity`: the cost of one entity, page and query, for the plan in docs/guide/capacity.md. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../src/contract/json.ts';
import type { BenchContext } from './support/bench.ts';
import { citiesTenant, cityIndex } from './support/data/cities-tenant.ts';
import { cityEntities, type Entity } from './support/data/sets.ts';
import type { BenchTenant } from './support/data/tenant.ts';
import { Client } from './support/load/client.ts';
import { memoryOf } from './support/platform/memory.ts';
import { bytesByKind } from './support/platform/redis-kinds.ts';
import { System } from './support/platform/system.ts';
import {
  Meter,
  type PlatformPart,
  perPart,
  platformParts,
  type Usage,
  UsageProbe,
} from './support/platform/usage.ts';
import { cityQueries } from './support/query/city-queries.ts';
import type { Table } from './support/report/table.ts';
import { figure } from './support/report/table.ts';
import { runBench } from './support/run.ts';

/** Stores entities without outputs. */
const bareTenant: BenchTenant = { alias: 'bare', schemas: {} };
/** Concurrent requests. With more of them, calls would share more of their cost. */
const lanes = 32;
/** Queries sent before the measured ones. */
const warmUps = 100;
/** Work left by a load ends within this time: garbage collection, and the snapshots of indexes without changes for ten seconds. */
const restMs = 15_000;
/** How long the idle platform is measured. */
const idleMs = 10_000;

interface Cost {
  readonly what: string;
  /** Processor time per operation, in microseconds. */
  readonly us: Readonly<Record<PlatformPart, number>>;
}

await runBench({
  name: 'capacity',
  question:
    'What does one operation cost? Processor time and memory for each entity, page and query: cities over HTTP, 50 a request, each with one view, a URL and an index item of 11 fields; then their pages, each requested twice, and queries of four kinds, all different.',
  caveats: [
    'Processor time is that of the process, whatever else the machine does. It does not include waiting. No machine can be used completely, so plan with half.',
    'Under full load, calls share reads and writes, and each costs less than here.',
    'The share of the idle processes is subtracted from the cost of pages and queries, so a very small figure means zero.',
    'Bytes in Redis and in the worker are the growth of memory divided by the number of entities. The worker is restarted for both.',
  ],
  async run(context) {
    const entities = await cityEntities(context.quick ? 2_000 : 20_000);
    const cities = entities.filter(({ type }) => type === 'city');
    const system = await System.start(context, { tenants: [bareTenant, citiesTenant] });
    const probe = new UsageProbe(system);
    context.onEnd(() => probe.close());
    const emptyWorker = memoryOf(system.workerPid)?.residentBytes ?? Number.NaN;

    const loadMeter = Meter.plain(probe);
    const bare = await loadMeter.costOf(() => load(context, system, bareTenant, entities));
    const whole = await loadMeter.costOf(() => load(context, system, citiesTenant, entities));

    const kinds = await bytesByKind(system, citiesTenant.alias);

    const client = new Client(context, system.baseUrl, citiesTenant);
    const urls = cities.flatMap(({ url }) => url ?? []).slice(0, context.quick ? 500 : 5_000);
    const queries = cityQueries(cities, context.quick ? 200 : 2_000);
    const asked = queries.slice(warmUps);
    const deliverAll = () => inLanes(urls, (url) => client.deliver(url));
    const ask = (query: JsonObject) => client.query(cityIndex, query);
    // The cost of the idle platform can be measured only when everything is compiled and quiet.
    await sleep(context.quick ? 0 : restMs);
    const meter = await Meter.lessIdle(probe, context.quick ? idleMs / 30 : idleMs);
    const fromRedis = await meter.costOf(deliverAll);
    const fromCache = await meter.costOf(deliverAll);
    await inLanes(queries.slice(0, warmUps), ask);
    const search = await meter.costOf(() => inLanes(asked, ask));

    await system.stopWorker();
    system.startWorker();
    await system.ready();
    const loadedWorker = memoryOf(system.workerPid)?.residentBytes ?? Number.NaN;

    const costs: Cost[] = [
      { what: 'entity stored, nothing made of it', us: perOne(bare, entities.length) },
      { what: 'entity stored and all made of it', us: perOne(whole, entities.length) },
      { what: 'page from the cache', us: perOne(fromCache, urls.length) },
      { what: 'page made from Redis', us: perOne(fromRedis, urls.length) },
      { what: 'query', us: perOne(search, asked.length) },
    ];
    const jsonBytes = entities.reduce((sum, entity) => sum + JSON.stringify(entity).length, 0);
    return {
      tables: [
        processorTable(costs, meter.idleUsPerMs),
        {
          title: `Memory (${entities.length.toLocaleString('en-US')} entities, ${cities.length.toLocaleString('en-US')} index items)`,
          columns: ['', 'bytes'],
          rows: [
            ['an entity as JSON', figure(jsonBytes / entities.length)],
            ['an entity alone in Redis', figure(bare.redisBytes / entities.length)],
            ['an entity in Redis with all that is made of it', figure(whole.redisBytes / entities.length)],
            ['an index item in its worker', figure((loadedWorker - emptyWorker) / cities.length)],
          ],
        },
        kindsTable(kinds, whole.redisBytes, entities.length),
      ],
      charts: [],
      targets: [],
    };
  },
});

/** Loads entities, and waits until everything is delivered and found. */
async function load(
  context: BenchContext,
  system: System,
  tenant: BenchTenant,
  entities: readonly Entity[],
): Promise<void> {
  const client = new Client(context, system.baseUrl, tenant);
  await client.importEntities(entities);
  await client.settle(entities.slice(-1_000));
}

function perOne({ processorUs }: Usage, count: number): Record<PlatformPart, number> {
  return perPart((part) => processorUs[part] / count);
}

async function inLanes<T>(things: readonly T[], act: (thing: T) => Promise<unknown>): Promise<void> {
  const rest = things.values();
  const lane = async () => {
    for (const thing of rest) await act(thing);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Kinds below one byte per entity, and keys without a tenant, are in the last row. */
function kindsTable(kinds: ReadonlyMap<string, number>, allBytes: number, count: number): Table {
  const named = [...kinds].filter(([, bytes]) => bytes >= count);
  const rest = allBytes - named.reduce((sum, [, bytes]) => sum + bytes, 0);
  return {
    title: 'Redis for an entity with all that is made of it, by kind of key (`src/store/keys.ts`)',
    columns: ['', 'bytes'],
    rows: [
      ...named.map(([kind, bytes]) => [`\`${kind}\``, figure(bytes / count)]),
      ['the rest', figure(rest / count)],
      ['all', figure(allBytes / count)],
    ],
  };
}

function processorTable(costs: readonly Cost[], idleUsPerMs: Readonly<Record<PlatformPart, number>>): Table {
  return {
    title: 'Processor time for one of them, in microseconds',
    columns: ['', ...platformParts, 'a second on one core of its busiest process'],
    rows: [
      ...costs.map(({ what, us }) => {
        const busiest = Math.max(...platformParts.map((part) => us[part]));
        return [what, ...platformParts.map((part) => figure(Math.max(0, us[part]))), figure(1e6 / busiest)];
      }),
      ['a second of nothing', ...platformParts.map((part) => figure(1000 * idleUsPerMs[part])), '–'],
    ],
  };
}
