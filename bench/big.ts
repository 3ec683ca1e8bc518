/**
 * `npm run bench -- big`: five million cities from import to restore. It takes hours and 24 GB, so it is not part of `all`.
 * MILLRACE_BENCH_ENTITIES makes it smaller.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject } from '../src/contract/json.ts';
import type { BenchContext, Target } from './support/bench.ts';
import { citiesTenant, cityIndex } from './support/data/cities-tenant.ts';
import { ManyCities } from './support/data/many-cities.ts';
import { type BenchTenant, clientKeyOf } from './support/data/tenant.ts';
import { Client, deliveryPath } from './support/load/client.ts';
import { type HttpRequest, load, prepareRequests, requireWrk } from './support/load/wrk.ts';
import { megabytes, memoryOf } from './support/platform/memory.ts';
import { System } from './support/platform/system.ts';
import { UsageProbe } from './support/platform/usage.ts';
import { ports } from './support/ports.ts';
import { cityQueries } from './support/query/city-queries.ts';
import { figure, type Table } from './support/report/table.ts';
import { runBench } from './support/run.ts';

const tenths = 10;
const settledEntities = 300;
/** Two workers share the index, because it is larger than the default heap of one Node process. */
const workers = 2;
const kinds = [
  'a page by its URL',
  'one word',
  'a word with a typo',
  'filter + sort',
  'search + facet',
] as const;
type Kind = (typeof kinds)[number];
type P50s = Readonly<Record<Kind, number>>;

/** Pages get another member, so every city is rebuilt. */
const changedTenant: BenchTenant = {
  ...citiesTenant,
  schemas: {
    ...citiesTenant.schemas,
    city: withProperty(citiesTenant.schemas.city ?? {}, 'code', '{p.adminCode}'),
  },
};

await runBench({
  name: 'big',
  question:
    'Can it handle five million cities? Their import in ten parts, each until all its outputs are visible; pages, and queries for the first 100,000 cities, over one connection, at 100,000 cities and at the end; a start of the workers; a change of a schema that rebuilds every city; a backup, and its restore into an empty store.',
  caveats: [
    'Millrace is compared with itself, on one machine: the importer, two workers, the front and Redis share its cores.',
    'The cities of the data set are repeated with new ids, URLs and names, so there are as few different alternative names as in the data set.',
  ],
  minutesMax: 360,
  async run(context) {
    const wrk = requireWrk(context);
    const total = context.quick ? 2_000 : Number(process.env.MILLRACE_BENCH_ENTITIES ?? 5_000_000);
    const smallSize = Math.min(100_000, total / (2 * tenths));
    const cities = await ManyCities.read(context.quick ? 500 : Number.POSITIVE_INFINITY);
    const system = await System.start(context, { tenants: [citiesTenant], workers });
    const client = new Client(context, system.baseUrl, citiesTenant);
    const measure = (size: number) => p50s(context, wrk, cities, size, smallSize);
    await add(client, cities, 0, smallSize);
    const small = await measure(smallSize);
    const rates: number[] = [];
    for (let part = 0; part < tenths; part += 1) {
      const [from, to] = [part, part + 1].map((number) => Math.round((total / tenths) * number));
      const begins = Math.max(from ?? 0, smallSize);
      rates.push(await add(client, cities, begins, to ?? total));
      context.say(`${to} cities, ${figure(rates.at(-1) ?? 0)} a second`);
    }
    await client.waitForItems(cityIndex, total);
    const large = await measure(total);
    const memory = await memoryTable(system, total);

    const startS = await system.restartWorkers();
    context.say(`the workers started in ${figure(startS)} s`);
    const rebuildS = await secondsOf(() => system.apply([changedTenant], ['--yes']));
    context.say(`a schema was rebuilt in ${figure(rebuildS)} s`);
    const file = path.join(context.folder, 'backup.ndjson.gz');
    const backupS = await secondsOf(() => system.run('backup', [file]));
    context.say(`a backup took ${figure(backupS)} s`);
    await system.stop();
    const restored = await System.start(context, { tenants: [changedTenant], workers });
    const restoreS = await secondsOf(async () => {
      await restored.run('restore', [file]);
      await new Client(context, restored.baseUrl, citiesTenant).waitForItems(cityIndex, total);
    });

    const share = (rates.at(-1) ?? 0) / (rates[0] ?? 1);
    return {
      tables: [
        {
          title: `Import (${total.toLocaleString('en-US')} cities)`,
          columns: ['tenth', ...rates.map((_, part) => String(part + 1))],
          rows: [['cities a second', ...rates.map(figure)]],
        },
        p50Table(smallSize, total, small, large),
        memory,
        {
          title: 'Whole store',
          columns: ['', 'seconds', 'cities a second'],
          rows: [
            ['workers start, with snapshots', figure(startS), figure(total / startS)],
            ['a changed schema', figure(rebuildS), figure(total / rebuildS)],
            [`backup (${megabytes(statSync(file).size)})`, figure(backupS), figure(total / backupS)],
            ['restore, until all is found', figure(restoreS), figure(total / restoreS)],
          ],
        },
      ],
      charts: [],
      targets: [
        target('rate of the last tenth by that of the first (≥ 0.8)', share, share >= 0.8),
        ...kinds.map((kind) => {
          const slower = large[kind] / small[kind];
          return target(`p50 at the end by that at ${smallSize}, ${kind} (≤ 1.5)`, slower, slower <= 1.5);
        }),
        target('seconds until the workers are ready (≤ 40)', startS, startS <= 40),
      ],
    };
  },
});

function target(text: string, value: number, isReached: boolean): Target {
  return { text, figure: figure(value), isReached };
}

function withProperty(schema: JsonObject, name: string, value: string): JsonObject {
  return { ...schema, properties: { ...Object(schema.properties), [name]: value } };
}

/** Imports a range of the cities, with all places before the first. @returns cities per second until all of it is visible */
async function add(client: Client, cities: ManyCities, from: number, to: number): Promise<number> {
  if (from === 0) await client.importEntities(cities.places);
  const seconds = await secondsOf(async () => {
    await client.importEntities(cities.range(from, to));
    await client.settle([...cities.range(Math.max(from, to - settledEntities), to)]);
  });
  return (to - from) / seconds;
}

async function secondsOf(act: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await act();
  return (performance.now() - startedMs) / 1000;
}

/**
 * p50 in ms of each kind over one connection. Code and memory are warmed up before with other requests.
 * @param size pages are those of the first `size` cities
 * @param queried queries are for the first `queried` cities
 */
async function p50s(
  context: BenchContext,
  wrk: string,
  cities: ManyCities,
  size: number,
  queried: number,
): Promise<P50s> {
  const count = context.quick ? 200 : 160_000;
  const headers = { 'X-Api-Key': clientKeyOf(citiesTenant) };
  const pages = cities
    .some(count, size, size)
    .flatMap(({ url }): HttpRequest[] =>
      url === null ? [] : [{ method: 'GET', path: deliveryPath(url), headers }],
    );
  const queries = cityQueries(cities.some(count, queried, size), count).map(
    (query): HttpRequest => ({
      method: 'POST',
      path: `/v1/${cityIndex}`,
      headers,
      body: JSON.stringify(query),
    }),
  );
  const ofKind = (at: number) => (at === 0 ? pages : queries.filter((_, number) => number % 4 === at - 1));
  const figures: [Kind, number][] = [];
  for (const [at, kind] of kinds.entries()) {
    const requests = ofKind(at);
    const requestFile = prepareRequests(context, `${size}-${at}`, requests);
    const loadFrom = (skipped: number) =>
      load(wrk, {
        port: ports.millrace,
        requestFile,
        connections: 1,
        seconds: context.quick ? 1 : 4,
        skipped,
      });
    await loadFrom(Math.floor(requests.length / 2));
    const { p50Ms } = await loadFrom(0);
    figures.push([kind, p50Ms]);
  }
  return Object.fromEntries(figures) as P50s;
}

function p50Table(smallSize: number, total: number, small: P50s, large: P50s): Table {
  const title = 'p50 in ms, one connection';
  const sizes = [smallSize, total].map((size) => size.toLocaleString('en-US'));
  return {
    title,
    columns: ['', ...sizes],
    rows: kinds.map((kind) => [kind, figure(small[kind]), figure(large[kind])]),
  };
}

async function memoryTable(system: System, total: number): Promise<Table> {
  const probe = new UsageProbe(system);
  const { redisBytes } = await probe.read();
  probe.close();
  const resident = (pids: readonly number[]) =>
    pids.reduce((sum, pid) => sum + (memoryOf(pid)?.residentBytes ?? Number.NaN), 0);
  const rows: [string, number][] = [
    ['Redis', redisBytes],
    [`${workers} workers`, resident(system.workerPids)],
    ['front', resident(system.frontPids)],
  ];
  return {
    title: 'Memory at the end',
    columns: ['', 'MB', 'bytes a city'],
    rows: rows.map(([name, bytes]) => [name, megabytes(bytes), figure(bytes / total)]),
  };
}
