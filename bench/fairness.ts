/** `npm run bench -- fairness`: the effect on others while one source imports as fast as it can. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { programWords } from '../src/typescript/clone-or-package.mjs';
import type { BenchContext, Target } from './support/bench.ts';
import { citiesTenant, cityIndex } from './support/data/cities-tenant.ts';
import { cityEntities, type Entity } from './support/data/sets.ts';
import { type BenchTenant, sourceKeyOf } from './support/data/tenant.ts';
import { noLatencies, type ProbeLatencies, probeReads, probeSaves } from './support/fairness-probes.ts';
import { Client } from './support/load/client.ts';
import { System } from './support/platform/system.ts';
import { Meter, type PlatformPart, perPart, UsageProbe } from './support/platform/usage.ts';
import { quantile, ratiosOf, spreadOf } from './support/report/statistics.ts';
import { figure, spreadFigure } from './support/report/table.ts';
import { inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

/** One in this many of all entities is imported before the measurement. */
const warmUpShare = 14;
const measuredParts = ['front', 'worker', 'Redis'] as const;
const quietMs = 4_000;
const importProgram = fileURLToPath(new URL('../src/cli/import.ts', import.meta.url));
const neighbour: BenchTenant = { ...citiesTenant, alias: 'neighbour' };
const importing: BenchTenant = { ...citiesTenant, alias: 'importing' };
const importingAlone: BenchTenant = { ...citiesTenant, alias: 'importing-alone' };
const warmUpTenant: BenchTenant = { ...citiesTenant, alias: 'warm-up' };

/** The guarantees (docs/promises.md "Load and outages"), in milliseconds: median and p99. */
const promised = { saved: [50, 300], seen: [200, 500], page: [null, 100], query: [null, 100] } as const;

interface Imported {
  readonly entitiesPerSecond: number;
  /** Processor time per entity, in microseconds. */
  readonly us: Readonly<Record<PlatformPart, number>>;
}

interface Measured {
  readonly alone: Imported;
  readonly beside: Imported;
  readonly quiet: ProbeLatencies;
  readonly neighbour: ProbeLatencies;
  readonly own: ProbeLatencies;
}

interface EntityFile {
  readonly file: string;
  readonly entities: readonly Entity[];
}

await runBench({
  name: 'fairness',
  question:
    'Does an import delay others? `npm run import` of the data set cities, 50 a request, 8 concurrent requests, alone and while another tenant and the same source save single entities and read them with their versions, and the other tenant requests a page every 4 ms and a query every 20 ms.',
  caveats: [
    'Millrace is compared with itself. The importer, the front, one worker, Redis and the measuring process share the two cores.',
    'Each import goes into a separate tenant on one platform. Their order changes with the rounds.',
    'The rate is that of the whole command including the start of its process, until every entity has its route and every city is in the index.',
  ],
  async run(context) {
    const entities = await cityEntities(context.quick ? 4_000 : Number.POSITIVE_INFINITY);
    const all = writeEntities(context, 'entities', entities);
    const warmUp = writeEntities(
      context,
      'warm-up',
      entities.filter((_, index) => index % warmUpShare === 0),
    );
    const results = await inRounds(context, [
      { name: 'fairness', measure: (round) => measured(context, round, all, warmUp) },
    ]);
    const rounds = results.get('fairness') ?? [];
    const rates = (name: 'alone' | 'beside') => rounds.map((round) => round[name].entitiesPerSecond);
    const costs = (name: 'alone' | 'beside') =>
      measuredParts.map((part) =>
        figure(
          quantile(
            rounds.map((round) => round[name].us[part]),
            0.5,
          ),
        ),
      );
    const who = (name: 'quiet' | 'neighbour' | 'own') => merged(rounds.map((round) => round[name]));
    const [quiet, other, own] = [who('quiet'), who('neighbour'), who('own')];
    const kept = spreadOf(ratiosOf(rates('beside'), rates('alone')));
    return {
      tables: [
        {
          title: 'Milliseconds, in the median and at p99',
          columns: ['', 'p50', 'p99', 'most'],
          rows: [
            ['quiet: a single save', ...figuresOf(quiet.saved)],
            ['quiet: read with its version', ...figuresOf(quiet.seen)],
            ['quiet: a page', ...figuresOf(quiet.page)],
            ['quiet: a query', ...figuresOf(quiet.query)],
            ["another tenant's single save", ...figuresOf(other.saved)],
            ['read with its version', ...figuresOf(other.seen)],
            ["the importing source's own single save", ...figuresOf(own.saved)],
            ['read with its version', ...figuresOf(own.seen)],
            ["another tenant's page", ...figuresOf(other.page)],
            ["another tenant's query", ...figuresOf(other.query)],
          ],
        },
        {
          title: `Import of ${entities.length.toLocaleString('en-US')} entities`,
          columns: ['', 'entities/s (quartiles)', ...measuredParts.map((part) => `${part}, µs each`)],
          rows: [
            ['alone', spreadFigure(spreadOf(rates('alone'))), ...costs('alone')],
            ['while others save and read', spreadFigure(spreadOf(rates('beside'))), ...costs('beside')],
          ],
        },
      ],
      charts: [],
      targets: [
        ...targetsOf('single save', 'saved', [...other.saved, ...own.saved]),
        ...targetsOf('single save until read', 'seen', [...other.seen, ...own.seen]),
        ...targetsOf('page', 'page', other.page),
        ...targetsOf('query', 'query', other.query),
        {
          text: 'import beside others over import alone (≥ 0.9)',
          figure: spreadFigure(kept),
          isReached: kept.median >= 0.9,
        },
      ],
    };
  },
});

async function measured(
  context: BenchContext,
  round: number,
  all: EntityFile,
  warmUp: EntityFile,
): Promise<Measured> {
  const tenants = [neighbour, importing, importingAlone, warmUpTenant];
  const system = await System.start(context, { tenants });
  const { baseUrl } = system;
  const probe = new UsageProbe(system);
  const importAll = async (tenant: BenchTenant): Promise<Imported> => {
    let entitiesPerSecond = 0;
    const { processorUs } = await Meter.plain(probe).costOf(async () => {
      entitiesPerSecond = await importInto(context, baseUrl, tenant, all);
    });
    return { entitiesPerSecond, us: perPart((part) => processorUs[part] / all.entities.length) };
  };
  const cities = all.entities.filter(({ type }) => type === 'city');
  const [city] = cities;
  await new Client(context, baseUrl, neighbour).importEntities(warmUp.entities.slice(0, 1_000));
  const url = warmUp.entities[0]?.url ?? '/';
  await importInto(context, baseUrl, warmUpTenant, warmUp);
  if (city === undefined) throw new TypeError('no cities');
  const probed = async <T>(tenant: BenchTenant, meanwhile: () => Promise<T>) => {
    let isOver = false;
    const ended = () => isOver;
    const probes = Promise.all([
      probeSaves(baseUrl, neighbour, cities, ended),
      probeReads(baseUrl, neighbour, url, ended),
      probeSaves(baseUrl, tenant, cities, ended),
    ]);
    probes.catch(() => {});
    const result = await meanwhile();
    isOver = true;
    const [saves, reads, own] = await probes;
    return { result, neighbour: { ...reads, saved: saves.saved, seen: saves.seen }, own };
  };
  const quiet = await probed(warmUpTenant, () => sleep(context.quick ? quietMs / 10 : quietMs));
  const isAloneFirst = round % 2 === 0;
  const first = isAloneFirst ? await importAll(importingAlone) : null;
  const beside = await probed(importing, () => importAll(importing));
  const alone = first ?? (await importAll(importingAlone));
  probe.close();
  await system.stop();
  const rate = beside.result;
  context.say(
    `alone ${importedText(alone)}, beside ${importedText(rate)}; ms p50, p99, most: ` +
      `neighbour saved ${figuresOf(beside.neighbour.saved)}, seen ${figuresOf(beside.neighbour.seen)}; ` +
      `own saved ${figuresOf(beside.own.saved)}, seen ${figuresOf(beside.own.seen)}; ` +
      `page ${figuresOf(beside.neighbour.page)}; query ${figuresOf(beside.neighbour.query)}`,
  );
  return { alone, beside: rate, quiet: quiet.neighbour, neighbour: beside.neighbour, own: beside.own };
}

/** Imports with the command itself. @returns entities per second, until all are delivered and found */
async function importInto(
  context: BenchContext,
  baseUrl: string,
  tenant: BenchTenant,
  { file, entities }: EntityFile,
): Promise<number> {
  const startedMs = performance.now();
  const words = [...programWords, importProgram, file, '--key', sourceKeyOf(tenant), '--url', baseUrl];
  const child = spawn(process.execPath, words, { stdio: 'ignore' });
  const kill = () => void child.kill('SIGKILL');
  context.signal.addEventListener('abort', kill);
  const [code] = await once(child, 'close');
  context.signal.removeEventListener('abort', kill);
  if (code !== 0) throw new Error(`the import ended with ${code}`);
  const client = new Client(context, baseUrl, tenant);
  await client.waitForItems(cityIndex, entities.filter(({ type }) => type === 'city').length);
  await client.waitForRoutes(entities.reduce((sum, { redirects }) => sum + 1 + redirects.length, 0));
  return entities.length / ((performance.now() - startedMs) / 1000);
}

function writeEntities({ folder }: BenchContext, name: string, entities: readonly Entity[]): EntityFile {
  const file = path.join(folder, `${name}.ndjson`);
  writeFileSync(file, `${entities.map((entity) => JSON.stringify(entity)).join('\n')}\n`);
  return { file, entities };
}

function importedText({ entitiesPerSecond, us }: Imported): string {
  const costs = measuredParts.map((part) => `${part} ${figure(us[part])} µs`);
  return `${figure(entitiesPerSecond)}/s (${costs.join(', ')})`;
}

function merged(list: readonly ProbeLatencies[]): ProbeLatencies {
  const all = noLatencies();
  for (const name of ['saved', 'seen', 'page', 'query'] as const) {
    for (const noticed of list) all[name].push(...noticed[name]);
  }
  return all;
}

function figuresOf(times: readonly number[]): string[] {
  return [0.5, 0.99, 1].map((share) => figure(quantile(times, share)));
}

function targetsOf(text: string, name: keyof typeof promised, times: readonly number[]): Target[] {
  return promised[name].flatMap((most, index) => {
    if (most === null) return [];
    const [label, share] = index === 0 ? ['in the median', 0.5] : ['at p99', 0.99];
    const ms = quantile(times, share);
    return [{ text: `${text} ${label}, ms (≤ ${most})`, figure: figure(ms), isReached: ms <= most }];
  });
}
