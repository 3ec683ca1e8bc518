/** `npm run bench -- relevance`: the quality of the first results, with and without typos. */

import type { BenchResult, Target } from './support/bench.ts';
import { random } from './support/data/random.ts';
import { type RankingEngine, rankingEngines } from './support/query/ranking-engines.ts';
import {
  type Collection,
  collections,
  type JudgedQuery,
  type RelevanceScores,
  relevanceScoresOf,
  withTypos,
} from './support/query/relevance-data.ts';
import { spreadOf } from './support/report/statistics.ts';
import { runBench } from './support/run.ts';

const seed = 38;

/** The scores of an engine, without typos and with one in each word. */
interface Ranked {
  readonly engine: RankingEngine;
  readonly plain: RelevanceScores;
  readonly misspelt: RelevanceScores;
}

async function rankedBy(engine: RankingEngine, collection: Collection): Promise<Ranked> {
  const rank = await engine.load(collection);
  const { queries } = collection;
  const next = random(seed);
  const scores = async (judged: readonly JudgedQuery[]) => {
    const ranked: (readonly string[])[] = [];
    for (const { text } of judged) ranked.push(await rank(text));
    return relevanceScoresOf(judged, ranked);
  };
  const plain = await scores(queries);
  const misspelt = queries.map(({ text, grades }) => ({ grades, text: withTypos(text, next) }));
  return { engine, plain, misspelt: await scores(misspelt) };
}

function targetsOf(collection: string, all: readonly Ranked[]): Target[] {
  const best = (isOurs: boolean, scores: (ranked: Ranked) => RelevanceScores) =>
    Math.max(0, ...all.filter(({ engine }) => engine.isOurs === isOurs).map((ranked) => scores(ranked).ndcg));
  const [plain, others] = [best(true, (one) => one.plain), best(false, (one) => one.plain)];
  const [misspelt, otherMisspelt] = [best(true, (one) => one.misspelt), best(false, (one) => one.misspelt)];
  return [
    {
      text: `${collection}: nDCG@10 without typos is at least that of the best other engine`,
      figure: `${share(plain)} and ${share(others)}`,
      isReached: plain >= others,
    },
    {
      text: `${collection}: nDCG@10 with a typo in each word is at least twice that of the next engine`,
      figure: `${share(misspelt)} and ${share(otherMisspelt)}`,
      isReached: misspelt >= 2 * otherMisspelt,
    },
  ];
}

function share(value: number): string {
  return value.toFixed(3);
}

function resultOf(measured: ReadonlyMap<string, readonly Ranked[]>): BenchResult {
  const columns = ['', 'nDCG@10', 'recall@100', 'nDCG@10, typos', 'recall@100, typos'];
  return {
    tables: [...measured].map(([collection, all]) => ({
      title: `Relevance, ${collection}`,
      columns,
      rows: all.map(({ engine, plain, misspelt }) => [
        engine.name,
        ...[plain.ndcg, plain.recall, misspelt.ndcg, misspelt.recall].map(share),
      ]),
    })),
    charts: [...measured].map(([collection, all]) => ({
      kind: 'bars' as const,
      file: `relevance-${collection}.svg`,
      title: `Relevance, ${collection}, with and without typos`,
      unit: 'nDCG@10',
      bars: all.flatMap(({ engine, plain, misspelt }) =>
        [['', plain], [', typos', misspelt] as const].map(([what, scores]) => ({
          label: `${engine.name.split(',')[0]}${engine.name.includes('simplest') ? ', simplest' : ''}${what}`,
          spread: spreadOf([(scores as RelevanceScores).ndcg]),
          isOurs: engine.isOurs,
        })),
      ),
    })),
    targets: [...measured].flatMap(([collection, all]) => targetsOf(collection, all)),
    notes:
      measured.size > 0
        ? []
        : [
            '`MILLRACE_BENCH_DATA` has no collection: a folder with `docs.ndjson`, `queries.ndjson` and `qrels.ndjson`.',
          ],
  };
}

await runBench({
  name: 'relevance',
  question:
    'Are the best results first? nDCG@10 and recall@100 on collections with relevance judgements, with the original queries, and with one random edit in each word of three or more letters.',
  caveats: [
    'Queries are truncated to 256 characters, for all engines.',
    'Ours is called in process, with the code of a worker: the order is the same over HTTP.',
    'SQLite and PostgreSQL have no typo tolerance. MiniSearch and Orama use fuzzy matches in both runs, as ours always does.',
    'PostgreSQL ranks without the frequency of words in the whole collection.',
  ],
  async run(context) {
    const engines = await rankingEngines(context);
    const measured = new Map<string, readonly Ranked[]>();
    for (const whole of collections()) {
      const collection = context.quick ? { ...whole, queries: whole.queries.slice(0, 20) } : whole;
      const all: Ranked[] = [];
      for (const engine of engines) {
        context.say(`${collection.name}: ${engine.name}`);
        all.push(await rankedBy(engine, collection));
      }
      measured.set(collection.name, all);
    }
    return resultOf(measured);
  },
});
