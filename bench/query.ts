/** `npm run bench -- query`: queries over HTTP against search libraries behind the same front, and PostgreSQL. */

import type { BenchContext, BenchResult, Target } from './support/bench.ts';
import { postgresSettingsText, startPostgres } from './support/postgres.ts';
import {
  checkAnswers,
  drain,
  ours,
  oursRun,
  type QueryContender,
  requestFileOf,
  startOurs,
  startPeers,
} from './support/query-contenders.ts';
import { cityItems, type ItemSet, packageItems } from './support/query-items.ts';
import { type QueryKind, queryKinds, queryMix } from './support/query-mix.ts';
import { loadsInRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';
import { ratiosOf, spreadOf } from './support/statistics.ts';
import { figure, spreadFigure } from './support/table.ts';
import { spreadsOf } from './support/throughput.ts';
import { type LoadResult, load, requireWrk } from './support/wrk.ts';

const connections = 8;
const seconds = 1;
const quickCities = 3_000;
/** Of the best of the others. */
const least: Readonly<Record<QueryKind, number>> = {
  'one word': 1,
  'two words, typos': 3,
  'filter + sort': 1,
  'search + facet': 3,
};

await runBench({
  name: 'query',
  question:
    'How fast are queries? Four kinds over HTTP, 8 connections, 30 different queries each, ten results a page, on the descriptions of Debian packages and on the names of cities.',
  unfair: [
    'For us: a front keeps finished answers until an item of their index changes, and the 30 queries come again and again. "Every query run" sends the version of a write that is long done, so that nothing kept is used: that row is the search itself.',
    'Against us: the others search in the process that speaks HTTP; our queries go to a worker in another process and back, check a key, and the shard follows changes meanwhile.',
    'For us: front and worker are two processes, so we use both cores, as PostgreSQL does; MiniSearch and Orama have one.',
    "Every contender gets our own words, so that totals can be the same; the order by relevance is everybody's own and is not compared. Sorting and facets are written around MiniSearch in plain JavaScript.",
    `PostgreSQL ranks with ts_rank without positions, and looks words with typos up in a vocabulary table with levenshtein_less_equal; ${postgresSettingsText}.`,
    'Peers count a swap of two letters as two edits, the contract as one: only queries are taken where that makes no difference. A contender whose totals, facets or sorted pages differ from a plain scan is not timed on that kind, nor one that needs more than a second for one query.',
  ],
  async run(context) {
    const packages = await packageItems();
    const sets = context.quick
      ? [packages ?? (await cityItems(quickCities))]
      : [packages, await cityItems()].filter((set) => set !== null);
    const postgres = await startPostgres(context);
    const results: BenchResult[] = [];
    for (const set of sets) results.push(await measureSet(context, set, postgres));
    return {
      tables: results.flatMap(({ tables }) => tables),
      charts: results.flatMap(({ charts }) => charts),
      targets: results.flatMap(({ targets }) => targets),
      notes: [
        ...results.flatMap(({ notes = [] }) => notes),
        'Where the time goes: see `query-overhead`. One word and a facet cost a shard 3 to 6 µs, so such a query is all way: HTTP, the front, the worker and back. What is kept costs the front HTTP and one look-up.',
      ],
    };
  },
});

async function measureSet(
  context: BenchContext,
  set: ItemSet,
  postgres: string | null,
): Promise<BenchResult> {
  const wrk = requireWrk(context);
  const mix = queryMix(set.items);
  const { kept, run } = await startOurs(context, set);
  const contenders = [kept, run, ...(await startPeers(context, set, postgres))];
  const notes: string[] = [];
  for (const contender of contenders) notes.push(...(await checkAnswers(context, contender, mix)));
  const turns = contenders.flatMap((contender) =>
    queryKinds
      .filter((kind) => contender.kinds.has(kind))
      .map((kind) => {
        const queries = mix.filter((query) => query.kind === kind);
        const requestFile = requestFileOf(context, contender, `${set.name} ${kind}`, queries);
        return {
          name: turnName(contender.name, kind),
          measure: async () => {
            const result = await load(wrk, { port: contender.port, requestFile, connections, seconds });
            await drain(contender, mix);
            return result;
          },
        };
      }),
  );
  const results = await loadsInRounds(context, turns);
  for (const contender of contenders) await contender.stop();
  return { ...report(set, contenders, results), notes };
}

function turnName(contender: string, kind: QueryKind): string {
  return `${contender}: ${kind}`;
}

function report(
  set: ItemSet,
  contenders: readonly QueryContender[],
  results: ReadonlyMap<string, readonly LoadResult[]>,
): Omit<BenchResult, 'notes'> {
  const title = `Queries on ${set.name} (${set.items.length.toLocaleString('en-US')} items)`;
  const loadsOf = (name: string, kind: QueryKind) => results.get(turnName(name, kind)) ?? [];
  return {
    tables: [
      {
        title: `${title}: requests/s (quartiles), p50 ms`,
        columns: ['', ...queryKinds],
        rows: contenders.map(({ name, untimed }) => [
          name,
          ...queryKinds.map((kind) => untimed.get(kind) ?? cell(loadsOf(name, kind))),
        ]),
      },
    ],
    charts: queryKinds.map((kind) => ({
      kind: 'bars',
      file: `query-${set.name}-${kind.replaceAll(/[^a-z]+/g, '-')}.svg`,
      title: `${title}: ${kind}`,
      unit: 'requests/s',
      bars: spreadsOf(
        new Map(
          contenders
            .map(({ name }) => [name, loadsOf(name, kind)] as const)
            .filter(([, loads]) => loads.length > 0),
        ),
        ours,
        ({ requestsPerSecond }) => requestsPerSecond,
      ),
    })),
    targets: queryKinds
      .flatMap((kind) => [ours, oursRun].map((name) => bestTarget(set, kind, name, contenders, loadsOf)))
      .filter((target) => target !== null),
  };
}

function cell(loads: readonly LoadResult[]): string {
  const rate = spreadFigure(spreadOf(loads.map(({ requestsPerSecond }) => requestsPerSecond)));
  return `${rate}, ${figure(spreadOf(loads.map(({ p50Ms }) => p50Ms)).median)}`;
}

function bestTarget(
  set: ItemSet,
  kind: QueryKind,
  measured: string,
  contenders: readonly QueryContender[],
  loadsOf: (name: string, kind: QueryKind) => readonly LoadResult[],
): Target | null {
  const rates = (name: string) => loadsOf(name, kind).map(({ requestsPerSecond }) => requestsPerSecond);
  const others = contenders
    .map(({ name }) => name)
    .filter((name) => name !== ours && name !== oursRun && rates(name).length > 0);
  const best = others.toSorted((a, b) => spreadOf(rates(b)).median - spreadOf(rates(a)).median)[0];
  if (best === undefined) return null;
  const spread = spreadOf(ratiosOf(rates(measured), rates(best)));
  return {
    text: `${set.name}, ${kind}, ${measured}: over the best of the others, ${best} (≥ ${least[kind]})`,
    figure: spreadFigure(spread),
    isReached: spread.median >= least[kind],
  };
}
