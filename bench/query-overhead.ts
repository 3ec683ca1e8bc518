/** `npm run bench -- query-overhead`: what the way over HTTP and to the worker adds to a query. */
import { autoFields, DirectShard } from './support/direct-shard.ts';
import { loadOfQueries, multiQueries, queriesPerRequest } from './support/multi-queries.ts';
import { checkAnswers, type QueryContender, requestFileOf, startOurs } from './support/query-contenders.ts';
import { cityItems, itemsTenant } from './support/query-items.ts';
import { type ExpectedQuery, queryKinds, queryMix } from './support/query-mix.ts';
import { loadsInRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';
import { ratiosOf, spreadOf } from './support/statistics.ts';
import { spreadFigure } from './support/table.ts';
import { spreadsOf, throughputTable } from './support/throughput.ts';
import { type LoadResult, load, requireWrk } from './support/wrk.ts';

const names = {
  direct: 'the shard, called in process',
  many: 'over HTTP, 64 connections',
  one: 'over HTTP, 1 connection',
  directAuto: 'the shard of the source group, called in process',
  several: `of the source group over HTTP, 64 connections, ${queriesPerRequest} queries a request`,
  kept: 'over HTTP, 64 connections, kept answers',
};

await runBench({
  name: 'query-overhead',
  question:
    'What does the way to the shard cost? A mix of all four kinds of queries over the names of cities: the shard called in a loop, and the same queries over HTTP through front and worker, one a request and several.',
  unfair: [
    `Several queries a request are a multi-query, which the specification has for source groups alone: an auto-indexed one with the same items, whose shard holds each text as a keyword too. Its rows stand beside a loop over such a shard. Its p50 and p99 are of requests, of ${queriesPerRequest} queries each.`,
    'The targets are about queries that are run; what a front answers from its kept answers is told beside them.',
    'Against HTTP: the loop in process neither parses nor checks a query, nor writes an answer; and its caches are its own, while wrk, front and worker follow one another on the same cores.',
    'For HTTP: wrk, front and worker have two cores, the loop uses one. And the queries come again and again, so neither front nor worker reads the text of one twice, it goes between them as a number, and a worker knows by heart what their rows begin with.',
  ],
  async run(context) {
    const wrk = requireWrk(context);
    const set = await cityItems(context.quick ? 3_000 : Number.POSITIVE_INFINITY);
    const mix = interleaved(queryMix(set.items));
    const { kept, run } = await startOurs(context, set, { ...itemsTenant, autoIndex: true });
    for (const contender of [kept, run]) {
      await checkAnswers(context, contender, mix);
      if (contender.kinds.size < queryKinds.length) throw new Error('the platform answers wrongly');
    }
    const several = await multiQueries(run, mix);
    const direct = new DirectShard(set.items, mix);
    const directAuto = new DirectShard(set.items, mix, autoFields);
    const seconds = context.quick ? 1 : 5;
    const overHttp = (contender: QueryContender, connections: number) => {
      const requestFile = requestFileOf(context, contender, 'overhead', mix);
      return load(wrk, { port: contender.port, requestFile, connections, seconds });
    };
    const results = await loadsInRounds<LoadResult>(context, [
      { name: names.direct, measure: async () => direct.measure(seconds) },
      { name: names.many, measure: () => overHttp(run, 64) },
      { name: names.one, measure: () => overHttp(run, 1) },
      { name: names.kept, measure: () => overHttp(kept, 64) },
      { name: names.directAuto, measure: async () => directAuto.measure(seconds) },
      {
        name: names.several,
        measure: () => loadOfQueries(context, wrk, run, several, { connections: 64, seconds }),
      },
    ]);
    const rates = (name: string) =>
      (results.get(name) ?? []).map(({ requestsPerSecond }) => requestsPerSecond);
    const p50 = (name: string) => (results.get(name) ?? []).map(({ p50Ms }) => p50Ms);
    const rateTarget = (how: string, overHttpName: string, directName: string) => {
      const share = spreadOf(ratiosOf(rates(overHttpName), rates(directName)));
      const text = `queries/s over HTTP, ${how}, by those in process (≥ 0.5)`;
      return { text, figure: spreadFigure(share), isReached: share.median >= 0.5 };
    };
    const directP50 = p50(names.direct);
    const added = spreadOf(p50(names.one).map((ms, round) => ms - (directP50[round] ?? 0)));
    const title = `Queries in process and over HTTP (${set.items.length.toLocaleString('en-US')} items)`;
    return {
      tables: [throughputTable(title, results, names.many, 'queries/s')],
      charts: [
        {
          kind: 'bars',
          file: 'query-overhead.svg',
          title,
          unit: 'queries/s',
          bars: spreadsOf(results, names.many, ({ requestsPerSecond }) => requestsPerSecond),
        },
      ],
      targets: [
        rateTarget('one a request', names.many, names.direct),
        rateTarget(`${queriesPerRequest} a request`, names.several, names.directAuto),
        {
          text: 'ms of p50 above it, one connection (≤ 1.5)',
          figure: spreadFigure(added),
          isReached: added.median <= 1.5,
        },
      ],
      notes: [
        'Where the time goes, in processor time a query with 64 connections: wrk takes 13 µs, the front 24 to 28, the worker 10 to 13 beside the search itself, Redis next to nothing, for a front asks a worker of its machine over a socket of the file system. Of the front (a profile) half is the kernel, a third of all sending answers; a seventh are built-in parts of V8, promises among them, an eighth our own code, 2 % collecting garbage. Of the worker two thirds to three quarters are the search, a seventh is writing pages, a twentieth handing them to the socket. The search takes a worker longer than the loop in process, whose caches are its own. Half the rate of the loop would leave some 43 µs of both cores for wrk, front, worker and the search in it; together they take about 80. Several queries a request spare the front half of that (15 to 22 µs a query); then the worker is what is full, with 37 to 43 µs a query: half of it the search, a fifth writing pages, a sixth handing them over.',
      ],
    };
  },
});

/** Kinds in turn, so that every stretch of the load is the same mix. */
function interleaved(mix: readonly ExpectedQuery[]): ExpectedQuery[] {
  const ofKinds = queryKinds.map((kind) => mix.filter((query) => query.kind === kind));
  const longest = Math.max(...ofKinds.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) =>
    ofKinds.flatMap((queries) => queries.slice(at, at + 1)),
  ).flat();
}
