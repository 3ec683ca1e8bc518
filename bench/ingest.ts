/** `npm run bench -- ingest`: from a file to delivered and queryable, compared with PostgreSQL. */
import { CommandStop } from '../src/cli/terminal/command-line.ts';
import type { BenchContext, Target } from './support/bench.ts';
import {
  connectPostgres,
  type Postgres,
  postgresSettingsText,
  type SqlConnection,
  startPostgres,
} from './support/contenders/postgres.ts';
import { type EntityStorage, plainRows } from './support/contenders/postgres-cities.ts';
import { wholeSite } from './support/contenders/postgres-site.ts';
import { citiesTenant, cityIndex } from './support/data/cities-tenant.ts';
import { cityEntities } from './support/data/sets.ts';
import type { BenchTenant } from './support/data/tenant.ts';
import { type EntityFile, openFile, writeEntities } from './support/ingest/entity-file.ts';
import { costTable, type LoadCost, measureLoadCost } from './support/ingest/load-cost.ts';
import { loadMillrace, loadPostgres } from './support/ingest/loads.ts';
import { requireSameSite } from './support/ingest/same-site.ts';
import { Client, importConcurrency } from './support/load/client.ts';
import { System } from './support/platform/system.ts';
import { familyProcessorUs, UsageProbe } from './support/platform/usage.ts';
import { ratiosOf, spreadOf } from './support/report/statistics.ts';
import { spreadFigure } from './support/report/table.ts';
import { type Contender, inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

/** One in this many of all entities is loaded by all before the measurement. */
const warmUpShare = 14;
const warmUpTenant: BenchTenant = { ...citiesTenant, alias: 'warm-up' };
const millrace = 'Millrace';

/** The job of PostgreSQL, and the minimum ratio of our rate to its rate. */
const jobs: readonly { readonly job: string; readonly storage: EntityStorage; readonly least: number }[] = [
  { job: 'plain rows', storage: plainRows, least: 0.6 },
  { job: 'the same job', storage: wholeSite, least: 1 },
];

interface Measured {
  readonly first: LoadCost;
  /** Some of the entities, right after the start; absent if nothing was started. */
  readonly warmUp?: LoadCost;
  /** The same file again; absent if it was not tried. */
  readonly again?: LoadCost;
}

/** The same queries are sent to both after each load. */
const checks = [
  { ours: {}, sql: 'true' },
  {
    ours: { filters: { and: [{ field: 'country', operator: 'equals', value: 'FR' }] } },
    sql: "properties->>'country' = 'FR'",
  },
  {
    ours: { filters: { and: [{ field: 'population', operator: 'greaterThan', value: 100_000 }] } },
    sql: "(properties->>'population')::double precision > 100000",
  },
  {
    ours: { search: { field: 'name', value: 'paris', literal: true } },
    sql: "to_tsvector('simple', properties->>'name') @@ 'paris'",
  },
];

await runBench({
  name: 'ingest',
  question:
    'How fast can entities be imported? The data set cities as NDJSON over HTTP, 50 a request, 8 concurrent requests, until every entity has its route and every city is in the index; then the same file again.',
  caveats: [
    'For plain rows: they are stored and indexed, and nothing is derived from them. Millrace also builds a page and an index item of each city, and a page and a card of everything else, with routes and redirects, and notifies fronts of changes. Its requests are HTTP, and the names of all properties are checked.',
    'The same job: in addition to the rows, PostgreSQL stores the JSON of each view, tables of URLs and redirects with a unique key and an index on their entity, trigrams of the names of cities, and an outbox. One function processes a batch in one call and one transaction; a changed entity first releases its URLs, redirects and views. Before the first round, every URL of 5,000 entities is requested from both, and again after 50 entities have exchanged their URLs. For PostgreSQL: its client builds the views, which costs 8 µs for each entity (SQL that builds them takes PostgreSQL 25 µs more). It does not store what refers to a view or which entities a type has, has no foreign keys, no schemas that can change and no delivery, and does not remember the second claim of a URL.',
    `For us: PostgreSQL makes its data durable and visible in one step. Millrace accepts first and processes at the same time. The clock runs until both are done. PostgreSQL: ${postgresSettingsText}; 8 connections, 50 entities a transaction, prepared statements.`,
    'All have stored one entity in 14 before the measurement (in another tenant, and in tables that are dropped). PostgreSQL needs no warm-up and runs through all rounds. Millrace is started in each round, and Node compiles its code then. The table shows its rate during that time too.',
    'Each client is one Node process that parses the same lines. Ours forwards bytes. That of PostgreSQL must build parameters.',
    'Redis writes its append-only file through to the disk at every call (appendfsync always), and PostgreSQL its log.',
  ],
  async run(context) {
    const entities = await cityEntities(context.quick ? 4_000 : Number.POSITIVE_INFINITY);
    const load: Load = {
      ...writeEntities(context, 'entities', entities),
      warmUp: writeEntities(
        context,
        'warm-up',
        entities.filter((_, index) => index % warmUpShare === 0),
      ),
      answers: new Map(),
    };
    context.say(`${entities.length} entities`);
    const contenders = await startContenders(context, load);
    const results = await inRounds(context, contenders);
    const loads = new Map([...results].map(([name, rounds]) => [name, rounds.map(({ first }) => first)]));
    const ours = results.get(millrace) ?? [];
    const again = ours.flatMap((round) => round.again ?? []);
    const warmUp = ours.flatMap((round) => round.warmUp ?? []);
    const bars = [...loads].map(([label, rounds]) => ({
      label,
      spread: spreadOf(ratesOf(rounds)),
      isOurs: label === millrace,
    }));
    const oursFirst = ratesOf(loads.get(millrace) ?? []);
    return {
      tables: [
        {
          title: `Ingest of ${entities.length.toLocaleString('en-US')} entities`,
          columns: ['', 'entities/s (quartiles)', 'Millrace / this one'],
          rows: [
            ...[...loads].map(([name, rounds]) => [
              name,
              spreadFigure(spreadOf(ratesOf(rounds))),
              name === millrace ? '1' : spreadFigure(spreadOf(ratiosOf(oursFirst, ratesOf(rounds)))),
            ]),
            ['Millrace, the same again, unchanged', spreadFigure(spreadOf(ratesOf(again))), ''],
            ['Millrace right after a start, one entity in 14', spreadFigure(spreadOf(ratesOf(warmUp))), ''],
          ],
        },
        costTable(new Map([...loads, ['Millrace, the same again, unchanged', again]])),
      ],
      charts: [
        {
          kind: 'bars',
          file: 'ingest.svg',
          title: 'Ingest of cities until delivered and queryable',
          unit: 'entities/s',
          bars,
        },
      ],
      targets: [
        ...contenders.flatMap(({ name, least }) =>
          least === null
            ? []
            : [
                target(
                  `over ${name} (≥ ${least})`,
                  ratiosOf(oursFirst, ratesOf(loads.get(name) ?? [])),
                  least,
                ),
              ],
        ),
        target('unchanged over first (≥ 4)', ratiosOf(ratesOf(again), oursFirst), 4),
      ],
      notes: [
        "Where the time goes. In the main thread of our worker (a profile late in an import), the in-memory index takes a third, nearly half of which looks up words and values in maps. Encoding and comparing views takes a sixth, and rendering them a tenth. Reading entities and packing claims take a seventeenth each, writing commits to the socket a twelfth, and garbage collection a fourteenth. In Redis (a profile by `perf`), finding and adding hash fields takes nearly a quarter, and Lua more than a quarter, half of which hashes the strings that a script receives. A seventh is the kernel (the append-only file, the network, memory), and an eighteenth is sorted sets. In the front, checking, hashing and encoding entities takes a fifth, encoding what is stored an eighth, garbage collection an eighth, and parsing JSON an eleventh. At the start of an import, a seventh of the worker's processor time is in other threads (by `perf`), two thirds of it to compile functions. PostgreSQL does with one process what we do with three: an entity goes to Redis, to the worker, and back to Redis as views, and each of the nine hashes and sorted sets that store it is another place in memory. Two things would change that. With more cores the rate would rise by half at most, because the worker uses three quarters of one core, nearly all in one thread. Writes without a script would cost Redis half as much (5.5 instead of 12 µs for three values of 400 bytes), but a script is what makes them safe to repeat.",
        'Tried without success (both trees at once, 25,000 cities, 4 rounds each, processor time of front, worker and Redis, with / without): one commit in flight at a time, so that more partitions share a call: 1.01 – 1.05. No helper threads for the garbage collection of young objects in the worker: 0.94 – 1.02. 16 partitions instead of 64, so that a batch has four times as many entities: 1.00 – 1.10. Functions compiled at their first call (`--always-sparkplug`, 10 rounds): 0.98 (0.96 – 1.02), and a start takes a tenth longer. One after the other on an idle machine (40,000 cities, 4 imports each, 8,840/s without the change): three times as many small batches in flight: 0.97 of the rate. A window that is filled again at 0.8 instead of half: 0.96. A window of 300 ms instead of 100: 1.06, but every save would wait three times as long. In each of them, a sixth of the two cores is idle. Setting the fields of an index item without a generator for each (both trees in one process): 0.95 – 0.97 of the time to fill an index, for fifteen more lines.',
      ],
    };
  },
});

interface Load extends EntityFile {
  readonly warmUp: EntityFile;
  /** Contender -> its answers after a load. */
  readonly answers: Map<string, readonly number[]>;
}

interface IngestContender extends Contender<Measured> {
  /** The minimum ratio of our rate to its rate; null for ours. */
  readonly least: number | null;
}

/** Millrace, and two variants of PostgreSQL if it is available. Their results have been compared. */
async function startContenders(context: BenchContext, load: Load): Promise<IngestContender[]> {
  const ours = { name: millrace, least: null, measure: () => measureMillrace(context, load) };
  const postgres = await startPostgres(context);
  if (postgres === null) return [ours];
  const connections = await Promise.all(Array.from({ length: importConcurrency }, connectPostgres));
  context.onEnd(async () => {
    for (const connection of connections) await connection.end();
  });
  await requireSameSite(context, connections, load.entities);
  return [
    ours,
    ...jobs.map(({ job, storage, least }) => {
      const name = `${postgres.version}, ${job}`;
      return { name, least, measure: () => measurePostgres({ postgres, connections, storage, name }, load) };
    }),
  ];
}

async function measureMillrace(context: BenchContext, load: Load): Promise<Measured> {
  const { entities, answers, warmUp: warmUpFile } = load;
  const system = await System.start(context, { tenants: [citiesTenant, warmUpTenant] });
  const client = new Client(context, system.baseUrl, citiesTenant);
  const probe = new UsageProbe(system);
  const readUs = async () => (await probe.read()).processorUs;
  const warmUp = await measureLoadCost(warmUpFile.entities.length, readUs, () =>
    loadMillrace(new Client(context, system.baseUrl, warmUpTenant), warmUpFile),
  );
  const first = await measureLoadCost(entities.length, readUs, () => loadMillrace(client, load));
  const again = await measureLoadCost(entities.length, readUs, async () => {
    const { changed } = await client.import(openFile(load));
    if (changed > 0) throw new Error(`${changed} entities changed that are the same`);
  });
  const totals: number[] = [];
  for (const { ours } of checks) {
    totals.push((await client.query(cityIndex, { ...ours, pagination: { pageSize: 0 } })).totalResults);
  }
  requireSame(answers, millrace, totals);
  probe.close();
  await system.stop();
  return { warmUp, first, again };
}

interface PostgresContender {
  readonly name: string;
  readonly postgres: Postgres;
  readonly connections: readonly SqlConnection[];
  readonly storage: EntityStorage;
}

async function measurePostgres(contender: PostgresContender, load: Load): Promise<Measured> {
  const { name, postgres, connections, storage } = contender;
  const [connection] = connections;
  if (connection === undefined) throw new TypeError('no connection');
  await storage.create(connection);
  await loadPostgres(connections, storage, load.warmUp);
  await storage.create(connection);
  const readUs = async () => ({ PostgreSQL: familyProcessorUs(postgres.pid) });
  const first = await measureLoadCost(load.entities.length, readUs, () =>
    loadPostgres(connections, storage, load),
  );
  const totals: number[] = [];
  for (const { sql } of checks) {
    const { rows } = await connection.query({
      text: `select count(*)::int as total from entities where type = 'city' and ${sql}`,
    });
    totals.push(Number(rows[0]?.total));
  }
  requireSame(load.answers, name, totals);
  return { first };
}

function requireSame(answers: Map<string, readonly number[]>, who: string, totals: readonly number[]): void {
  answers.set(who, totals);
  if (new Set([...answers.values()].map(String)).size > 1)
    throw new CommandStop(`The contenders disagree: ${[...answers].map(String).join(' against ')}`);
}

function ratesOf(rounds: readonly LoadCost[]): number[] {
  return rounds.map(({ entitiesPerSecond }) => entitiesPerSecond);
}

function target(text: string, ratios: readonly number[], least: number): Target {
  const spread = spreadOf(ratios);
  return { text, figure: spreadFigure(spread), isReached: spread.median >= least };
}
