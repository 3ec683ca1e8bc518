/** `npm run bench -- lists`: lists of pages, each with its country and region, against SQLite in the server's own process. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BenchContext } from './support/bench.ts';
import { startNodeServer } from './support/contenders/server-process.ts';
import { citiesTenant, cityIndex } from './support/data/cities-tenant.ts';
import { random } from './support/data/random.ts';
import { cityEntities, type Entity } from './support/data/sets.ts';
import { clientKeyOf } from './support/data/tenant.ts';
import { Client } from './support/load/client.ts';
import { type HttpRequest, load, prepareRequests, requireWrk } from './support/load/wrk.ts';
import { installSqlite } from './support/peers.ts';
import { System } from './support/platform/system.ts';
import { familyProcessorUs, ofRooms, UsageProbe } from './support/platform/usage.ts';
import { host, ports } from './support/ports.ts';
import { type CostedLoad, withWay } from './support/query/way-cost.ts';
import { spreadOf } from './support/report/statistics.ts';
import { figure, type Table } from './support/report/table.ts';
import { ratioTarget, throughputTable } from './support/report/throughput.ts';
import { loadsInRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

const names = { ours: 'Millrace', sqlite: 'SQLite and node:http' };
const citiesMax = 20_000;
const queriesMax = 40_000;
const connections = 32;
const sizes = [10, 50] as const;

/** Cities with a population between the two, the largest first. */
interface List {
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

await runBench({
  name: 'lists',
  question:
    'How fast is a list of pages, the kind that every site has? Cities in a range of population, the largest first, each with its whole page, country and region. 20,000 cities, 32 connections, no two requests the same.',
  unfair: [
    'Against us: the others search in the process that speaks HTTP. Our queries go to a worker in another process and back, a key is checked, and everything shown is followed, so that no list shows an old view.',
    'For us: front, worker and Redis are processes of their own, so we use both cores. The processor time of all of them is in the table.',
    'SQLite (better-sqlite3) is in memory, with an index on population, and two prepared statements for a request: the count and the list.',
    'The cities of lists repeat, as on a site. After a second most of what our lists show was listed before, and is kept in the front.',
  ],
  async run(context) {
    const wrk = requireWrk(context);
    const entities = await cityEntities(context.quick ? 400 : citiesMax);
    const cities = entities.filter(({ type }) => type === 'city');
    const system = await System.start(context, { tenants: [citiesTenant] });
    const client = new Client(context, system.baseUrl, citiesTenant);
    await client.importEntities(entities);
    await client.waitForItems(cityIndex, cities.length);
    const sqlitePid = await startSqlite(context, entities);
    const probe = new UsageProbe(system);
    context.onEnd(() => probe.close());
    const tables: Table[] = [];
    const targets = [];
    for (const size of sizes) {
      const lists = differingLists(cities, size, context.quick ? 200 : queriesMax);
      await requireSameLists(lists.slice(0, 50), sqlitePid !== null);
      const seconds = context.quick ? 1 : 4;
      const files = {
        ours: prepareRequests(context, `ours-${size}`, lists.map(ourRequest)),
        sqlite: prepareRequests(context, `sqlite-${size}`, lists.map(sqliteRequest)),
      };
      const skippedOf = (round: number) => Math.floor((round * lists.length) / (context.rounds + 1));
      const results = await loadsInRounds<CostedLoad>(context, [
        {
          name: names.ours,
          measure: (round) =>
            withWay(probe, seconds, () =>
              load(wrk, {
                port: ports.millrace,
                requestFile: files.ours,
                connections,
                seconds,
                skipped: skippedOf(round),
              }),
            ),
        },
        ...(sqlitePid === null
          ? []
          : [
              {
                name: names.sqlite,
                measure: (round: number) =>
                  withTimeOf(sqlitePid, seconds, () =>
                    load(wrk, {
                      port: ports.sqlite,
                      requestFile: files.sqlite,
                      connections,
                      seconds,
                      skipped: skippedOf(round),
                    }),
                  ),
              },
            ]),
      ]);
      tables.push(throughputTable(`Lists of ${size} pages`, results, names.ours, 'lists/s'));
      tables.push(costTable(size, results));
      targets.push(ratioTarget(`lists of ${size}: 1.5 of SQLite`, results, [names.ours, names.sqlite], 1.5));
    }
    return { tables, charts: [], targets: targets.filter((target) => target !== null) };
  },
});

/** @returns its process; null where SQLite cannot be installed */
async function startSqlite(context: BenchContext, entities: readonly Entity[]): Promise<number | null> {
  if (!installSqlite(context.say)) return null;
  const file = path.join(context.folder, 'entities.json');
  writeFileSync(file, JSON.stringify(entities));
  const { pid } = await startNodeServer(context, 'sqlite-lists', { port: ports.sqlite, words: [file] });
  return pid ?? null;
}

/** Lists that differ in their ranges, each with more cities than it shows. */
function differingLists(cities: readonly Entity[], size: number, count: number): List[] {
  const next = random(size);
  const populations = cities.map(({ properties }) => Number(properties.population)).sort((a, b) => a - b);
  return Array.from({ length: count }, () => {
    const at = Math.floor(next() * (populations.length - 4 * size));
    const reach = 2 * size + Math.floor(next() * 2 * size);
    return { from: populations[at] ?? 0, to: populations[at + reach] ?? 0, size };
  });
}

function ourRequest({ from, to, size }: List): HttpRequest {
  return {
    method: 'POST',
    path: `/v1/${cityIndex}`,
    headers: { 'X-Api-Key': clientKeyOf(citiesTenant) },
    body: JSON.stringify({
      filters: {
        and: [
          { field: 'population', operator: 'greaterThanOrEquals', value: from },
          { field: 'population', operator: 'lessThanOrEquals', value: to },
        ],
      },
      sort: [{ field: 'population', order: 'desc' }],
      pagination: { pageSize: size },
      fields: [],
      aliases: ['city'],
    }),
  };
}

function sqliteRequest(list: List): HttpRequest {
  return { method: 'POST', path: '/', body: JSON.stringify(list) };
}

interface Page {
  readonly url: string;
  readonly population: number;
}

/** @throws Error when the two show other pages. Where cities tie at the end of a list, each may show another of them. */
async function requireSameLists(lists: readonly List[], hasSqlite: boolean): Promise<void> {
  if (!hasSqlite) return;
  for (const list of lists) {
    const mine: { totalResults: number; results: { _views: { city: Page } }[] } = await answerTo(
      ports.millrace,
      ourRequest(list),
    );
    const theirs: { totalResults: number; results: Page[] } = await answerTo(
      ports.sqlite,
      sqliteRequest(list),
    );
    const pages = mine.results.map(({ _views }) => _views.city);
    const populations = (shown: readonly Page[]) => shown.map(({ population }) => population);
    assert.equal(mine.totalResults, theirs.totalResults);
    assert.deepEqual(populations(pages), populations(theirs.results));
    const last = pages.at(-1)?.population;
    for (const page of pages.filter(({ population }) => population !== last)) {
      assert.deepEqual(
        page,
        theirs.results.find(({ url }) => url === page.url),
      );
    }
  }
}

async function answerTo<T>(port: number, { path: target, headers, body }: HttpRequest): Promise<T> {
  const response = await fetch(`http://${host}:${port}${target}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: body ?? '',
  });
  if (!response.ok) throw new Error(`${target} answered ${response.status}: ${await response.text()}`);
  return JSON.parse(await response.text());
}

async function withTimeOf(
  pid: number,
  seconds: number,
  act: () => ReturnType<typeof load>,
): Promise<CostedLoad> {
  const before = familyProcessorUs(pid);
  const measured = await act();
  const front = (familyProcessorUs(pid) - before) / (measured.requestsPerSecond * seconds);
  return { ...measured, us: { ...ofRooms(() => 0), front } };
}

function costTable(size: number, results: ReadonlyMap<string, readonly CostedLoad[]>): Table {
  const median = (loads: readonly CostedLoad[], of: (load: CostedLoad) => number) =>
    figure(spreadOf(loads.map(of)).median);
  return {
    title: `Processor time for each list of ${size}, in microseconds (medians)`,
    columns: ['', 'front or server', 'worker', 'Redis', 'all'],
    rows: [...results].map(([name, loads]) => [
      name,
      median(loads, ({ us }) => us.front),
      median(loads, ({ us }) => us.worker),
      median(loads, ({ us }) => us.Redis + us['message Redis']),
      median(loads, ({ us }) => Object.values(us).reduce((sum, one) => sum + one, 0)),
    ]),
  };
}
