/** `npm run bench -- query`: queries over HTTP, compared with search libraries behind the same front, and PostgreSQL. */

import type { BenchContext, BenchResult, Target } from './support/bench.ts';
import { postgresSettingsText, startPostgres } from './support/contenders/postgres.ts';
import { cityItems, type ItemSet, packageItems } from './support/data/items.ts';
import { type LoadResult, load, requireWrk } from './support/load/wrk.ts';
import {
  checkAnswers,
  drain,
  ours,
  type QueryContender,
  requestFileOf,
  startOurs,
  startPeers,
} from './support/query/contenders.ts';
import { allKinds, type BenchQuery, boxKinds, type QueryKind, queryKinds } from './support/query/kinds.ts';
import { queryMix, skippedIn } from './support/query/mix.ts';
import { ratiosOf, spreadOf } from './support/report/statistics.ts';
import { figure, spreadFigure } from './support/report/table.ts';
import { spreadsOf } from './support/report/throughput.ts';
import { loadsInRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

const connections = 8;
const seconds = 1;
const quickCities = 3_000;
const kept = 'Millrace, kept answers';
/** Targets, as ratios to the best of the others. */
const least: Readonly<Record<QueryKind, number>> = {
  'one word': 1,
  'two words, typos': 3,
  'filter + sort': 1,
  'search + facet': 3,
  'one word, typos': 3,
  beginning: 1,
  'beginning, typos': 1,
  'word, highlighted': 1,
  '*part*': 1,
  'near a place': 1,
};

await runBench({
  name: 'query',
  question:
    'How fast are queries? Ten kinds over HTTP, 8 connections, up to 40,000 queries each, all different, on the names of cities, and four of the kinds on the descriptions of Debian packages.',
  caveats: [
    '"Kept answers" is not part of the comparison. It repeats 30 queries of each kind, and the front answers them from its cache until an item of their index changes. In all other rows every query is new: an item is changed before each load, so no cached answer is left.',
    'One word, search and facet, prefixes and highlights: if a set has fewer words than there are queries, a word is repeated with another page size (5 to 15, ten on average).',
    '"Has none": MiniSearch has no highlights, no patterns and no geo search, and Orama no highlights and no patterns. Neither they nor PostgreSQL find misspelt prefixes; Orama has a tolerance, which is used.',
    'Of highlights the marked words are compared, and not the texts. Ours escapes `& < > " \'` in them, PostgreSQL (ts_headline, whole texts) does not, and its parser takes hosts and paths for one word.',
    'Places: within 50 km, the nearest first. PostgreSQL has earthdistance with a GiST index and our radius of the earth, and pg_trgm with a GIN index for parts of names.',
    'Against us: the others search in the process that speaks HTTP. Our queries go to a worker in another process and back, and a key is checked. Our shard follows changes meanwhile.',
    'For us: front and worker are two processes, so we use both cores, as PostgreSQL does. MiniSearch and Orama use one.',
    'All contenders use our tokenizer, so that totals can be the same. The order by relevance is their own, and is not compared. Sorting and facets are added to MiniSearch in plain JavaScript.',
    `PostgreSQL ranks with ts_rank without positions, and looks up words with typos in a vocabulary table with levenshtein_less_equal; ${postgresSettingsText}.`,
    'Peers count a swap of two letters as two edits, and Millrace as one. Answers are compared where that makes no difference, 75 of each kind. A contender is not timed on a kind if its totals, facets or sorted pages differ from a plain scan, or if it needs more than a second for one query.',
  ],
  async run(context) {
    const packages = context.quick ? null : await packageItems();
    const sets = context.quick
      ? [await cityItems(quickCities)]
      : [packages, await cityItems()].filter((set) => set !== null);
    const postgres = await startPostgres(context);
    const results: BenchResult[] = [];
    for (const set of sets) results.push(await measureSet(context, set, postgres?.version ?? null));
    return {
      tables: results.flatMap(({ tables }) => tables),
      charts: results.flatMap(({ charts }) => charts),
      targets: results.flatMap(({ targets }) => targets),
      notes: [...results.flatMap(({ notes = [] }) => notes), 'Where the time goes: see `query-overhead`.'],
    };
  },
});

async function measureSet(
  context: BenchContext,
  set: ItemSet,
  postgres: string | null,
): Promise<BenchResult> {
  const wrk = requireWrk(context);
  const kinds = kindsOf(set);
  const mix = queryMix(set.items, context, kinds);
  const platform = await startOurs(context, set);
  const contenders = [platform, ...(await startPeers(context, set, postgres))];
  const notes: string[] = [];
  for (const contender of contenders) notes.push(...(await checkAnswers(context, contender, mix.checked)));
  const turnsOf = (
    contender: QueryContender,
    name: string,
    queriesOf: (kind: QueryKind) => readonly BenchQuery[],
    makeReady: (contender: QueryContender) => Promise<void>,
  ) =>
    kinds
      .filter((kind) => contender.kinds.has(kind) && (name !== kept || isRepeated(kind)))
      .map((kind) => {
        const queries = queriesOf(kind);
        const requestFile = requestFileOf(context, contender, turnName(`${set.name} ${name}`, kind), queries);
        return {
          name: turnName(name, kind),
          measure: async (round: number) => {
            await makeReady(contender);
            const skipped = skippedIn(round, queries.length);
            const result = await load(wrk, {
              port: contender.port,
              requestFile,
              connections,
              seconds,
              skipped,
            });
            await drain(contender, mix.checked);
            return result;
          },
        };
      });
  const differing = (kind: QueryKind) => mix.differing.get(kind) ?? [];
  const repeated = (kind: QueryKind) =>
    mix.repeated.filter((query) => query.kind === kind).map(({ query }) => query);
  const results = await loadsInRounds(context, [
    ...turnsOf(platform, kept, repeated, async () => {}),
    ...contenders.flatMap((contender) =>
      turnsOf(contender, contender.name, differing, (one) => one.forget()),
    ),
  ]);
  for (const contender of contenders) await contender.stop();
  return { ...report(set, contenders, results), notes };
}

/** Only the items with places, because a run with all items of both sets would exceed its time. */
function kindsOf({ items }: ItemSet): readonly QueryKind[] {
  return items[0]?.place === undefined ? queryKinds : allKinds;
}

function tablesOf(set: ItemSet): readonly (readonly QueryKind[])[] {
  return kindsOf(set) === allKinds ? [queryKinds, boxKinds] : [queryKinds];
}

function isRepeated(kind: QueryKind): boolean {
  return queryKinds.some((one) => one === kind);
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
    tables: tablesOf(set).map((kinds) => ({
      title: `${title}: requests/s (quartiles), p50 ms`,
      columns: ['', ...kinds],
      rows: [
        ...contenders.map(({ name, untimed }) => [
          name,
          ...kinds.map((kind) => untimed.get(kind) ?? cell(loadsOf(name, kind))),
        ]),
        ...(kinds.some(isRepeated) ? [[kept, ...kinds.map((kind) => cell(loadsOf(kept, kind)))]] : []),
      ],
    })),
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
    targets: kindsOf(set)
      .map((kind) => bestTarget(set, kind, contenders, loadsOf))
      .filter((target) => target !== null),
  };
}

function cell(loads: readonly LoadResult[]): string {
  if (loads.length === 0) return '–';
  const rate = spreadFigure(spreadOf(loads.map(({ requestsPerSecond }) => requestsPerSecond)));
  return `${rate}, ${figure(spreadOf(loads.map(({ p50Ms }) => p50Ms)).median)}`;
}

function bestTarget(
  set: ItemSet,
  kind: QueryKind,
  contenders: readonly QueryContender[],
  loadsOf: (name: string, kind: QueryKind) => readonly LoadResult[],
): Target | null {
  const rates = (name: string) => loadsOf(name, kind).map(({ requestsPerSecond }) => requestsPerSecond);
  const others = contenders.map(({ name }) => name).filter((name) => name !== ours && rates(name).length > 0);
  const best = others.toSorted((a, b) => spreadOf(rates(b)).median - spreadOf(rates(a)).median)[0];
  if (best === undefined || rates(ours).length === 0) return null;
  const spread = spreadOf(ratiosOf(rates(ours), rates(best)));
  return {
    text: `${set.name}, ${kind}: over the best of the others, ${best} (≥ ${least[kind]})`,
    figure: spreadFigure(spread),
    isReached: spread.median >= least[kind],
  };
}
