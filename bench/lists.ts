/** `npm run bench -- lists`: lists of pages with their references, compared with hand-written SQL. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BenchContext, Target } from './support/bench.ts';
import { postgresSettingsText, startPostgres } from './support/contenders/postgres.ts';
import { startNodeServer } from './support/contenders/server-process.ts';
import { chainsTenant, citiesTenant, cityIndex } from './support/data/cities-tenant.ts';
import { cityEntities, type Entity } from './support/data/sets.ts';
import { clientKeyOf } from './support/data/tenant.ts';
import {
  differingLists,
  type ListKind,
  ourRequest,
  requireSameLists,
  sqlRequest,
} from './support/lists/requests.ts';
import { Client, deliveryPath } from './support/load/client.ts';
import { RawConnection } from './support/load/raw-connection.ts';
import { load, prepareRequests, requireWrk } from './support/load/wrk.ts';
import { installSqlite } from './support/peers.ts';
import { System } from './support/platform/system.ts';
import {
  familyProcessorUs,
  Meter,
  type PlatformPart,
  perPart,
  platformParts,
  UsageProbe,
} from './support/platform/usage.ts';
import { ports } from './support/ports.ts';
import { type CostedLoad, measureProcesses } from './support/query/overhead.ts';
import { spreadOf } from './support/report/statistics.ts';
import { figure, type Table } from './support/report/table.ts';
import { ratioTarget, throughputTable } from './support/report/throughput.ts';
import { type Contender, loadsInRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

const ours = 'Millrace';
const sqlite = 'SQLite and node:http';
const citiesMax = 20_000;
const queriesMax = 40_000;
const connections = 32;
const firstRequestConnections = 8;
const firstRequestUsMax = 160;
const kinds: readonly ListKind[] = [
  { size: 10, levels: 1 },
  { size: 50, levels: 1 },
  { size: 10, levels: 3 },
  { size: 50, levels: 3 },
];

/** A server that answers from SQL. */
interface SqlServer {
  readonly name: string;
  readonly port: number;
  /** The processes whose time counts. */
  readonly pids: readonly number[];
}

await runBench({
  name: 'lists',
  question:
    'How fast is a list of pages, the kind that every site has? Cities in a range of population, the largest first, each with its whole page, and with its country and region, or with these and all their references (region, country, continent: three levels). 20,000 cities, 32 connections, all requests different.',
  caveats: [
    "Against us: SQLite searches in the process that serves HTTP. Our queries go to a worker in another process and back, a key is checked, and all dependencies are tracked, so that no list shows an old view. PostgreSQL's go to another process too.",
    'For us: front, worker and Redis are separate processes, so we use both cores, as PostgreSQL does. The processor time of all of them is in the tables.',
    'SQLite (better-sqlite3) is in memory. Both have an index on population and two prepared statements for a request: the count and the list, which PostgreSQL gets at once over one of 8 connections.',
    `PostgreSQL runs with ${postgresSettingsText}.`,
    'The cities of lists repeat, as on a site. After a second most of what our lists show was listed before, and is cached in the front.',
  ],
  async run(context) {
    const wrk = requireWrk(context);
    const entities = await cityEntities(context.quick ? 400 : citiesMax);
    const cities = entities.filter(({ type }) => type === 'city');
    const system = await System.start(context, { tenants: [citiesTenant, chainsTenant] });
    for (const tenant of [citiesTenant, chainsTenant]) {
      const client = new Client(context, system.baseUrl, tenant);
      await client.importEntities(entities);
      await client.waitForItems(cityIndex, cities.length);
    }
    const probe = new UsageProbe(system);
    context.onEnd(() => probe.close());
    const firstUs = await firstRequestUs(system, probe, cities);
    const servers = await startServers(context, entities);
    const tables: Table[] = [];
    const targets: (Target | null)[] = [firstRequestTarget(firstUs)];
    for (const kind of kinds) {
      const lists = differingLists(cities, kind, context.quick ? 200 : queriesMax);
      for (const { port } of servers) await requireSameLists(lists.slice(0, 50), port);
      const name = `${kind.size}-${kind.levels}`;
      const seconds = context.quick ? 1 : 3;
      const skippedOf = (round: number) => Math.floor((round * lists.length) / (context.rounds + 1));
      const ourFile = prepareRequests(context, `ours-${name}`, lists.map(ourRequest));
      const sqlFile = prepareRequests(context, `sql-${name}`, lists.map(sqlRequest));
      const loadOf = (port: number, requestFile: string, round: number) =>
        load(wrk, { port, requestFile, connections, seconds, skipped: skippedOf(round) });
      const contenders: Contender<CostedLoad>[] = [
        {
          name: ours,
          measure: (round) => measureProcesses(probe, seconds, () => loadOf(ports.millrace, ourFile, round)),
        },
        ...servers.map((server) => ({
          name: server.name,
          measure: (round: number) => withTimeOf(server, seconds, () => loadOf(server.port, sqlFile, round)),
        })),
      ];
      const results = await loadsInRounds(context, contenders);
      const title = `lists of ${kind.size}, ${kind.levels === 1 ? 'one level' : 'three levels'} of references`;
      tables.push(throughputTable(capitalized(title), results, ours, 'lists/s'), costTable(title, results));
      targets.push(ratioTarget(`${title}: 1.5 of SQLite`, results, [ours, sqlite], 1.5));
    }
    tables.push(firstRequestTable(cities.length, firstUs));
    return { tables, charts: [], targets: targets.filter((target) => target !== null) };
  },
});

/** Requests each city's page once, from a front that has answered nothing yet. @returns microseconds for each page */
async function firstRequestUs(
  { baseUrl }: System,
  probe: UsageProbe,
  cities: readonly Entity[],
): Promise<Readonly<Record<PlatformPart, number>>> {
  const urls = cities.flatMap(({ url }) => url ?? []);
  const connections = Array.from(
    { length: firstRequestConnections },
    () => new RawConnection(new URL(baseUrl), { 'X-Api-Key': clientKeyOf(citiesTenant) }),
  );
  const { processorUs } = await Meter.plain(probe).costOf(async () => {
    let next = 0;
    await Promise.all(
      connections.map(async (connection) => {
        for (let url = urls[next++]; url !== undefined; url = urls[next++]) {
          const { status } = await connection.send(connection.getOf(deliveryPath(url)));
          if (status !== 200) throw new Error(`the page ${url} got ${status}`);
        }
      }),
    );
  });
  for (const connection of connections) connection.close();
  return perPart((part) => processorUs[part] / urls.length);
}

function firstRequestTable(pages: number, us: Readonly<Record<PlatformPart, number>>): Table {
  return {
    title: `The first request of each of ${pages.toLocaleString('en-US')} pages by URL, from a front that has just started: processor time for each page, in microseconds`,
    columns: ['', ...platformParts, 'all'],
    rows: [[ours, ...platformParts.map((part) => figure(us[part])), figure(sumOf(us))]],
  };
}

function firstRequestTarget(us: Readonly<Record<PlatformPart, number>>): Target {
  const all = sumOf(us);
  return {
    text: `the first request of a page, in microseconds (≤ ${firstRequestUsMax})`,
    figure: figure(all),
    isReached: all <= firstRequestUsMax,
  };
}

function sumOf(us: Readonly<Record<PlatformPart, number>>): number {
  return Object.values(us).reduce((sum, one) => sum + one, 0);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The servers whose engines are available, all with the same cities. */
async function startServers(context: BenchContext, entities: readonly Entity[]): Promise<SqlServer[]> {
  const file = path.join(context.folder, 'entities.json');
  writeFileSync(file, JSON.stringify(entities));
  const servers: SqlServer[] = [];
  if (installSqlite(context.say)) {
    const { pid = 0 } = await startNodeServer(context, 'sql-lists', {
      port: ports.sqlite,
      words: ['sqlite', file],
    });
    servers.push({ name: sqlite, port: ports.sqlite, pids: [pid] });
  }
  const postgres = await startPostgres(context);
  if (postgres !== null) {
    const { pid = 0 } = await startNodeServer(context, 'sql-lists', {
      port: ports.postgresFront,
      words: ['postgres', file],
    });
    const name = `${postgres.version} and node:http`;
    servers.push({ name, port: ports.postgresFront, pids: [pid, postgres.pid] });
  }
  return servers;
}

async function withTimeOf(
  { pids }: SqlServer,
  seconds: number,
  act: () => ReturnType<typeof load>,
): Promise<CostedLoad> {
  const spentUs = () => pids.reduce((sum, pid) => sum + familyProcessorUs(pid), 0);
  const before = spentUs();
  const measured = await act();
  const front = (spentUs() - before) / (measured.requestsPerSecond * seconds);
  return { ...measured, us: { ...perPart(() => 0), front } };
}

function costTable(title: string, results: ReadonlyMap<string, readonly CostedLoad[]>): Table {
  const median = (loads: readonly CostedLoad[], of: (load: CostedLoad) => number) =>
    figure(spreadOf(loads.map(of)).median);
  return {
    title: `Processor time for each of the ${title}, in microseconds (medians)`,
    columns: ['', 'front, or server and database', 'worker', 'Redis', 'all'],
    rows: [...results].map(([name, loads]) => [
      name,
      median(loads, ({ us }) => us.front),
      median(loads, ({ us }) => us.worker),
      median(loads, ({ us }) => us.Redis),
      median(loads, ({ us }) => sumOf(us)),
    ]),
  };
}
