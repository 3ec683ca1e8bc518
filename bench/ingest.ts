/** `npm run bench -- ingest`: from a file to delivered and queryable, against PostgreSQL. */
import { createReadStream, type ReadStream, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { CommandStop } from '../src/cli/terminal/command-stop.ts';
import type { BenchContext, Target } from './support/bench.ts';
import {
  connectPostgres,
  postgresSettingsText,
  type SqlConnection,
  startPostgres,
} from './support/contenders/postgres.ts';
import { createEntitiesTable, loadEntities } from './support/contenders/postgres-cities.ts';
import { citiesTenant, cityIndex } from './support/data/cities-tenant.ts';
import { cityEntities, type Entity } from './support/data/sets.ts';
import type { BenchTenant } from './support/data/tenant.ts';
import { Client, importConcurrency } from './support/load/client.ts';
import { System } from './support/platform/system.ts';
import { ratiosOf, spreadOf } from './support/report/statistics.ts';
import { spreadFigure } from './support/report/table.ts';
import { type Contender, inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

/** One in this many of all entities is loaded by both before the clock runs. */
const warmUpShare = 14;
const warmUpTenant: BenchTenant = { ...citiesTenant, alias: 'warm-up' };

/** Entities per second. */
interface IngestRates {
  /** Rate of a part of the entities, right after the start; null where nothing was started. */
  readonly warmUp: number | null;
  readonly first: number;
  /** The same file once more; null where it was not tried. */
  readonly again: number | null;
}

/** The same questions are asked of both after each load. */
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
    'How fast do entities come in? The data set cities as NDJSON over HTTP, 50 a request, 8 requests at once, until every entity has its route and every city is in the index; then the same file again.',
  unfair: [
    'For PostgreSQL: it stores and indexes rows. Millrace also computes two views for each entity, routes and redirects, and tells fronts what changed. Its requests are HTTP, and the names of all properties are checked.',
    `For us: PostgreSQL makes its data durable and visible in one step. Millrace accepts first and processes at the same time. The clock runs until both are done. PostgreSQL: ${postgresSettingsText}; 8 connections, prepared statements.`,
    'Both have taken one entity in 14 before the clock runs (into another tenant, and into a table that is dropped). PostgreSQL needs no time to get warm and runs through all rounds. Millrace is started in each round, and Node compiles its code then. The table shows its rate during that time too.',
    'Each client is one Node process that parses the same lines. Ours passes bytes on. That of PostgreSQL must build parameters.',
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
    const postgres = await startPostgres(context);
    const connections =
      postgres === null ? [] : await Promise.all(Array.from({ length: importConcurrency }, connectPostgres));
    context.onEnd(async () => {
      for (const connection of connections) await connection.end();
    });
    const contenders: Contender<IngestRates>[] = [
      { name: 'Millrace', measure: () => measureMillrace(context, load) },
      ...(postgres === null ? [] : [{ name: postgres, measure: () => measurePostgres(connections, load) }]),
    ];
    const results = await inRounds(context, contenders);
    const ours = results.get('Millrace') ?? [];
    const first = (name: string) => (results.get(name) ?? []).map((rates) => rates.first);
    const again = ours.map((rates) => rates.again ?? 0);
    const warmUp = ours.map((rates) => rates.warmUp ?? 0);
    const bars = [...results.keys()].map((label) => ({
      label,
      spread: spreadOf(first(label)),
      isOurs: label === 'Millrace',
    }));
    const targets: Target[] = [target('unchanged over first (≥ 4)', ratiosOf(again, first('Millrace')), 4)];
    if (postgres !== null)
      targets.unshift(target(`over ${postgres} (≥ 1)`, ratiosOf(first('Millrace'), first(postgres)), 1));
    return {
      tables: [
        {
          title: `Ingest of ${entities.length.toLocaleString('en-US')} entities`,
          columns: ['', 'entities/s (quartiles)'],
          rows: [
            ...bars.map(({ label, spread }) => [label, spreadFigure(spread)]),
            ['Millrace, the same again, unchanged', spreadFigure(spreadOf(again))],
            ['Millrace right after a start, one entity in 14', spreadFigure(spreadOf(warmUp))],
          ],
        },
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
      targets,
      notes: [
        "Where the time goes, in processor time for each entity over the whole load: the worker takes 83 µs (10 of them on helper threads, mostly collecting garbage), Redis 52, the front 45, the importer 19. For an entity that comes again unchanged the front takes 41, the importer 16 and Redis 9, and about a tenth less since its hash tells that it is stored already. PostgreSQL takes 70 in its backends. In the worker's main thread (a profile late in the load) a third is the index in memory, and half of that looks up words and values in maps. A ninth runs the schemas, a twelfth reads entities, and a fourteenth each packs claims and collects garbage. The rest is spread over many small things. In Redis an eighth puts routes into sorted sets, a sixth finds fields in hashes, a ninth hashes every byte that a script sees, and a quarter is the kernel's (the append-only file, the network, memory). In the front, when entities come again, a sixth parses JSON and a quarter hashes and encodes. The rest is sockets and many small things. The front keeps the worker's pace. Otherwise the worker would have the last third of the load, and one core, to itself. Two things would change it: a machine with more cores, because front, worker and Redis share two here; and writes without a script. But scripts make writes safe to repeat: three values of 400 bytes take Redis 12 µs from a script and 5.5 without one.",
      ],
    };
  },
});

interface EntityFile {
  readonly file: string;
  readonly entities: readonly Entity[];
}

interface Load extends EntityFile {
  readonly warmUp: EntityFile;
  /** Contender -> its answers after a load. */
  readonly answers: Map<string, readonly number[]>;
}

function writeEntities({ folder }: BenchContext, name: string, entities: readonly Entity[]): EntityFile {
  const file = path.join(folder, `${name}.ndjson`);
  writeFileSync(file, `${entities.map((entity) => JSON.stringify(entity)).join('\n')}\n`);
  return { file, entities };
}

/** Opens the file in pieces of the same size as `npm run import`. */
function openFile({ file }: EntityFile): ReadStream {
  return createReadStream(file, { highWaterMark: 256 * 1024 });
}

/** Loads entities until every one has its route and every city is in the index. */
async function loadMillrace(client: Client, load: EntityFile): Promise<void> {
  const { entities } = load;
  await client.import(openFile(load));
  await client.waitForItems(cityIndex, entities.filter(({ type }) => type === 'city').length);
  await client.waitForRoutes(
    entities.length + entities.reduce((sum, { redirects }) => sum + redirects.length, 0),
  );
}

async function measureMillrace(context: BenchContext, load: Load): Promise<IngestRates> {
  const { entities, answers, warmUp: warmUpFile } = load;
  const system = await System.start(context, { tenants: [citiesTenant, warmUpTenant] });
  const client = new Client(context, system.baseUrl, citiesTenant);
  const warmUp = await rateOf(warmUpFile.entities.length, () =>
    loadMillrace(new Client(context, system.baseUrl, warmUpTenant), warmUpFile),
  );
  const first = await rateOf(entities.length, () => loadMillrace(client, load));
  const again = await rateOf(entities.length, async () => {
    const { changed } = await client.import(openFile(load));
    if (changed > 0) throw new Error(`${changed} entities changed that are the same`);
  });
  const totals: number[] = [];
  for (const { ours } of checks) {
    totals.push((await client.query(cityIndex, { ...ours, pagination: { pageSize: 0 } })).totalResults);
  }
  requireSame(answers, 'Millrace', totals);
  await system.stop();
  return { warmUp, first, again };
}

async function measurePostgres(connections: readonly SqlConnection[], load: Load): Promise<IngestRates> {
  const [connection] = connections;
  if (connection === undefined) throw new TypeError('no connection');
  await createEntitiesTable(connection);
  await loadPostgres(connections, load.warmUp);
  await createEntitiesTable(connection);
  const first = await rateOf(load.entities.length, () => loadPostgres(connections, load));
  const totals: number[] = [];
  for (const { sql } of checks) {
    const { rows } = await connection.query({
      text: `select count(*)::int as total from entities where type = 'city' and ${sql}`,
    });
    totals.push(Number(rows[0]?.total));
  }
  requireSame(load.answers, 'PostgreSQL', totals);
  return { warmUp: null, first, again: null };
}

function loadPostgres(connections: readonly SqlConnection[], load: EntityFile): Promise<void> {
  return loadEntities(connections, createInterface({ input: openFile(load) })[Symbol.asyncIterator]());
}

function requireSame(answers: Map<string, readonly number[]>, who: string, totals: readonly number[]): void {
  answers.set(who, totals);
  const [one = '', other = one] = [...answers.values()].map(String);
  if (one !== other)
    throw new CommandStop(`The contenders disagree: ${[...answers].map(String).join(' against ')}`);
}

async function rateOf(count: number, act: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await act();
  return count / ((performance.now() - startedMs) / 1000);
}

function target(text: string, ratios: readonly number[], least: number): Target {
  const spread = spreadOf(ratios);
  return { text, figure: spreadFigure(spread), isReached: spread.median >= least };
}
