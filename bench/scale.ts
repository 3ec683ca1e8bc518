/** `npm run bench -- scale`: the effect of more fronts and workers, each with a fixed share of a processor. */
import { availableParallelism } from 'node:os';
import { CommandStop } from '../src/cli/terminal/command-line.ts';
import type { Target } from './support/bench.ts';
import { cityItems } from './support/data/items.ts';
import { cityEntities } from './support/data/sets.ts';
import { requireWrk } from './support/load/wrk.ts';
import { ProcessorShares } from './support/platform/shares.ts';
import { platformParts } from './support/platform/usage.ts';
import { queryMix } from './support/query/mix.ts';
import { ratiosOf, spreadOf } from './support/report/statistics.ts';
import { figure, spreadFigure, type Table } from './support/report/table.ts';
import { runBench } from './support/run.ts';
import type { Layout } from './support/scale/layout.ts';
import { type LayoutFigures, type Measured, measureLayout } from './support/scale/measure.ts';

const layouts: readonly Layout[] = [
  { name: '1 front, 1 worker', processes: 1, shardCopies: 1 },
  { name: '2 fronts, 2 workers', processes: 2, shardCopies: 1 },
  { name: '2 and 2, each worker has all items (`SHARD_COPIES=2`)', processes: 2, shardCopies: 2 },
  { name: '4 platforms that share nothing, each with 1 and 1', processes: 4, platforms: 4, shardCopies: 1 },
  { name: '4 fronts, 4 workers', processes: 4, shardCopies: 1 },
  { name: '4 and 4, each half of the items twice (`SHARD_COPIES=2`)', processes: 4, shardCopies: 2 },
  { name: '4 and 4, each worker has all items (`SHARD_COPIES=4`)', processes: 4, shardCopies: 4 },
];
const most = Math.max(...layouts.map(({ processes }) => processes));
/** Processors reserved for Redis, jobs and the clients. */
const coresForOthers = 0.8;
const share = Math.round((100 * Math.max(0.5, availableParallelism() - coresForOthers)) / (2 * most)) / 100;
const roundsMax = 3;
const least = 0.8;

/** Minimum rate at which killing a worker must fail no query. */
const killedRateMin = 2_000;

const scaled = ['ingest', 'queries'] as const;
type Scaled = (typeof scaled)[number];
type Results = ReadonlyMap<Layout, LayoutFigures>;

await runBench({
  name: 'scale',
  question: `What do more machines add? 1, 2 and 4 fronts with as many workers, each limited to ${share} of a processor, with one Redis that is not limited: cities as NDJSON over all fronts until all their outputs are visible, then queries of all four kinds over 20,000 other items, all different.`,
  caveats: [
    'Everything is on one machine: there is no network between processes, and they share its caches. Their shares are allotted every 20 ms, so a request to several processes waits for those that have used up theirs. This takes more time, not more processor time.',
    'Redis, jobs and the clients are not limited. All fronts and workers share Redis: its column says how much of one core it would take at that rate. An import can grow until Redis fills a core, then by a cluster.',
    'By processor time: the share of proportional by the processor time of fronts or workers, whichever is larger, for each operation. Where they used less than their shares, the machine had no more for them, and this column is the relevant one. It includes the cost of idle processes, which more processes pay more often.',
    'Four platforms that share nothing show what this machine gives to eight busy processes and their caches. No design can come closer to proportional than they do.',
    'A platform is started for each layout, warmed up without a limit, then measured several times. Layouts do not alternate, so a drift of the machine counts.',
    'A query costs each worker that is asked something, whatever it finds: a request to read, a search to begin, an answer to write. Without shard copies all workers are asked. So more workers share what grows with the items, and fronts and shard copies what grows with the readers.',
  ],
  async run(given) {
    const context = { ...given, rounds: Math.min(given.rounds, roundsMax) };
    const wrk = requireWrk(context);
    const shares = ProcessorShares.open(context);
    if (shares === null && !context.quick) throw new CommandStop('scale measures nothing without limits');
    const [itemsMax, warmUps, entitiesEach] = context.quick ? [1_000, 300, 100] : [20_000, 4_000, 3_000];
    const entities = await cityEntities(warmUps + most * entitiesEach);
    const items = await cityItems(itemsMax);
    const data = { items, mix: queryMix(items.items, context), warmUp: entities.slice(0, warmUps) };
    const terms = {
      wrk,
      shares,
      share,
      entitiesEach,
      entities: entities.slice(warmUps),
      seconds: context.quick ? 1 : 3,
    };
    const results = new Map<Layout, LayoutFigures>();
    for (const layout of context.quick ? layouts.filter(({ processes }) => processes < most) : layouts) {
      results.set(layout, await measureLayout(context, layout, data, terms));
      context.say(`measured: ${layout.name}`);
    }
    return {
      tables: [ratesTable(results), costTable(results), killedTable(results)],
      charts: [],
      targets: [...targetsOf(results), ...killedTargets(results)],
      notes: [
        'Imports share Redis. The last column of the second table gives the rate that would fill a core of Redis; below it, entities a second grow with the workers. With shard copies each worker also indexes entities of other partitions: all workers together spend 1.3 to 1.5 times as much on an entity with 2 copies, and 1.7 times with 4.',
        'Without shard copies a query asks all workers, and one that finds little costs each of them almost as much as it costs a single worker. The front also sends and merges more messages. So more workers help with more items, not with more queries. If each worker has all items, a query asks one worker. Nothing is shared then: a query needs no command to Redis, and no process waits for anything but the response of another one. What is missing is the cost of eight busy processes on one machine, as the four platforms that share nothing show. In profiles (5,000 items, 16 connections for each front) a query took each of four fronts and workers 125 to 130 µs more than a single one: their own commands to Redis such as heartbeats (15 to 30), garbage collection (25), sockets (35 to 60, because a process that sees a quarter of the queries sends fewer messages together), and in the worker colder code and memory (41). Sending up to eight requests of one turn to the same worker brought no measurable gain.',
      ],
    };
  },
});

function ratesTable(results: Results): Table {
  return {
    title: `Entities and queries a second, ${share} of a core for each front and each worker`,
    columns: [
      '',
      'entities/s',
      'of proportional',
      'by processor time',
      'queries/s',
      'of proportional',
      'by processor time',
    ],
    rows: [...results].map(([layout, figures]) => [
      layout.name,
      ...scaled.flatMap((what) => [
        spreadFigure(spreadOf(figures[what].map(({ perSecond }) => perSecond))),
        figure(spreadOf(shareOfProportional(results, layout, what)).median),
        figure(spreadOf(shareByProcessorTime(results, layout, what)).median),
      ]),
    ]),
  };
}

/** What is shared, and what is saturated. */
function costTable(results: Results): Table {
  return {
    title: 'Processor time of all processes of a kind for each entity and query, in microseconds (medians)',
    columns: [
      '',
      ...platformParts,
      'share of fronts used',
      'share of workers used',
      'share of a core that Redis used',
      'a second that fill a core of Redis',
    ],
    rows: [...results].flatMap(([layout, { ingest, queries }]) => [
      costRow(`entity: ${layout.name}`, layout, ingest),
      costRow(`query: ${layout.name}`, layout, queries),
    ]),
  };
}

function costRow(name: string, { processes }: Layout, loads: readonly Measured[]): string[] {
  const median = (of: (load: Measured) => number) => spreadOf(loads.map(of)).median;
  const used = (cores: number) => `${Math.round(100 * cores)} %`;
  const limit = share * processes;
  return [
    name,
    ...platformParts.map((part) => figure(median(({ us }) => us[part]))),
    used(median(({ us, perSecond }) => (us.front * perSecond) / 1e6 / limit)),
    used(median(({ us, perSecond }) => (us.worker * perSecond) / 1e6 / limit)),
    used(median(({ us, perSecond }) => (us.Redis * perSecond) / 1e6)),
    figure(median(({ us }) => 1e6 / us.Redis)),
  ];
}

/** Its rates relative to one front and one worker, divided by the number of each. */
function shareOfProportional(results: Results, layout: Layout, what: Scaled): number[] {
  const [one] = results.values();
  return ratiosOf(ratesOf(results.get(layout), what), ratesOf(one, what)).map(
    (ratio) => ratio / layout.processes,
  );
}

function ratesOf(figures: LayoutFigures | undefined, what: Scaled): number[] {
  return (figures?.[what] ?? []).map(({ perSecond }) => perSecond);
}

/**
 * The share of proportional rates if fronts or workers used up their shares, by the processor time of the kind that takes more
 * of it. It is valid however busy the machine is with other things.
 */
function shareByProcessorTime(results: Results, layout: Layout, what: Scaled): number[] {
  const [one] = results.values();
  const costsOf = (figures: LayoutFigures | undefined) =>
    (figures?.[what] ?? []).map(({ us }) => Math.max(us.front, us.worker));
  return ratiosOf(costsOf(one), costsOf(results.get(layout)));
}

function targetsOf(results: Results): Target[] {
  const scaledUp = [...results.keys()].slice(1).filter(({ platforms }) => platforms === undefined);
  return scaledUp.flatMap((layout) =>
    scaled.flatMap((what) => [
      target(`${what} of proportional, ${layout.name}`, shareOfProportional(results, layout, what)),
      ...besideSeparate(results, layout, what),
    ]),
  );
}

/** Its rates by those of as many platforms that share nothing. */
function besideSeparate(results: Results, layout: Layout, what: Scaled): Target[] {
  const separate = [...results.keys()].find(({ platforms }) => platforms === layout.processes);
  if (separate === undefined) return [];
  const ratios = ratiosOf(ratesOf(results.get(layout), what), ratesOf(results.get(separate), what));
  return [target(`${what} by those of ${separate.name}, ${layout.name}`, ratios)];
}

function target(text: string, ratios: readonly number[]): Target {
  const spread = spreadOf(ratios);
  return {
    text: `${text} (≥ ${least})`,
    figure: spreadFigure(spread),
    isReached: spread.median >= least,
  };
}

function killedTable(results: Results): Table {
  return {
    title: 'A worker is killed (SIGKILL) in the middle of a load, nothing is limited',
    columns: ['', 'queries/s', 'failed', 'the slowest, ms'],
    rows: [...results].flatMap(([{ name }, { killed }]) =>
      killed === null
        ? []
        : [[name, figure(killed.queriesPerSecond), String(killed.failed), figure(killed.slowestMs)]],
    ),
  };
}

function killedTargets(results: Results): Target[] {
  return [...results].flatMap(([{ name }, { killed }]) => {
    if (killed === null) return [];
    const { queriesPerSecond, failed } = killed;
    return {
      text: `failed while a worker is killed, of at least ${figure(killedRateMin)}/s, ${name} (0)`,
      figure: `${failed} at ${figure(queriesPerSecond)}/s`,
      isReached: failed === 0 && queriesPerSecond >= killedRateMin,
    };
  });
}
