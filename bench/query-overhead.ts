/** `npm run bench -- query-overhead`: the overhead that HTTP and the round trip to the worker add to a query. */

import { cityItems, itemsTenant } from './support/data/items.ts';
import { load, prepareRequests, requireWrk } from './support/load/wrk.ts';
import { UsageProbe } from './support/platform/usage.ts';
import { checkAnswers, requestFileOf, startOurs } from './support/query/contenders.ts';
import { autoFields, DirectShard } from './support/query/direct-shard.ts';
import { queryKinds } from './support/query/kinds.ts';
import { interleaved, queryMix, skippedIn } from './support/query/mix.ts';
import {
  checkMultiQueries,
  loadMultiQueries,
  multiQueries,
  queriesPerRequest,
} from './support/query/multi.ts';
import {
  type CostedLoad,
  measureInProcess,
  measureProcesses,
  overheadOf,
  overheadTable,
} from './support/query/overhead.ts';
import { ratiosOf, spreadOf } from './support/report/statistics.ts';
import { spreadFigure } from './support/report/table.ts';
import { spreadsOf, throughputTable } from './support/report/throughput.ts';
import { loadsInRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

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
    'What does the round trip to the shard cost? A mix of all four kinds of queries over the names of cities, all different: the shard called in a loop, and the same queries over HTTP through front and worker, one a request and several.',
  caveats: [
    `Several queries a request are a multi-query, which there is for source groups alone: an auto-indexed one with the same items, whose shard holds each text as a keyword too. Its rows stand beside a loop over such a shard. Its p50 and p99 are of requests, of ${queriesPerRequest} queries each.`,
    '"Kept answers" is not part of the comparison. It repeats 30 queries of each kind, and the front answers them from its cache.',
    "Against HTTP: the loop in process does not parse or check a query, and writes no answer. It has the processor's caches for itself, while wrk, front and worker alternate on the same cores.",
    'For HTTP: wrk, front and worker have two cores. The loop uses one.',
    'The overhead of front and worker includes their garbage collection. It also includes the additional time of a search in a worker, because the loop has caches for itself.',
    'A query with typos takes the shard a hundred times as long as the others, so it dominates the rates of the mix.',
  ],
  async run(context) {
    const wrk = requireWrk(context);
    const set = await cityItems(context.quick ? 3_000 : Number.POSITIVE_INFINITY);
    const mix = queryMix(set.items, context);
    const differing = interleaved([...mix.differing.values()]);
    const platform = await startOurs(context, set, { ...itemsTenant, autoIndex: true });
    await checkAnswers(context, platform, mix.checked);
    if (platform.kinds.size < queryKinds.length) throw new Error('the platform answers wrongly');
    await checkMultiQueries(platform, mix.checked);
    const differingFile = requestFileOf(context, platform, 'overhead', differing);
    const repeatedFile = requestFileOf(
      context,
      platform,
      'overhead kept',
      mix.repeated.map(({ query }) => query),
    );
    const several = multiQueries(platform, differing);
    const severalFile = prepareRequests(context, 'multi-queries', several);
    const direct = new DirectShard(set.items, differing, mix.checked);
    const directAuto = new DirectShard(set.items, differing, mix.checked, autoFields);
    const seconds = context.quick ? 1 : 5;
    const probe = new UsageProbe(platform.system);
    context.onEnd(() => probe.close());
    const skippedOf = (round: number) => skippedIn(round, differing.length);
    const overHttp = async (round: number, connections: number) => {
      await platform.forget();
      const terms = { connections, seconds, skipped: skippedOf(round) };
      return measureProcesses(probe, seconds, () =>
        load(wrk, { port: platform.port, requestFile: differingFile, ...terms }),
      );
    };
    const results = await loadsInRounds<CostedLoad>(context, [
      {
        name: names.direct,
        measure: async (round) => measureInProcess(seconds, () => direct.measure(seconds, skippedOf(round))),
      },
      { name: names.many, measure: (round) => overHttp(round, 64) },
      { name: names.one, measure: (round) => overHttp(round, 1) },
      {
        name: names.kept,
        measure: () =>
          measureProcesses(probe, seconds, () =>
            load(wrk, { port: platform.port, requestFile: repeatedFile, connections: 64, seconds }),
          ),
      },
      {
        name: names.directAuto,
        measure: async (round) =>
          measureInProcess(seconds, () => directAuto.measure(seconds, skippedOf(round))),
      },
      {
        name: names.several,
        measure: async (round) => {
          await platform.forget();
          const skipped = skippedIn(round, several.length);
          return measureProcesses(probe, seconds, () =>
            loadMultiQueries(wrk, platform, severalFile, { connections: 64, seconds, skipped }),
          );
        },
      },
    ]);
    const loadsOf = (name: string) => results.get(name) ?? [];
    const rates = (name: string) => loadsOf(name).map(({ requestsPerSecond }) => requestsPerSecond);
    const p50 = (name: string) => loadsOf(name).map(({ p50Ms }) => p50Ms);
    const rateTarget = (how: string, overHttpName: string, directName: string) => {
      const share = spreadOf(ratiosOf(rates(overHttpName), rates(directName)));
      const text = `queries/s over HTTP, ${how}, by those in process (≥ 0.5)`;
      return { text, figure: spreadFigure(share), isReached: share.median >= 0.5 };
    };
    const directP50 = p50(names.direct);
    const added = spreadOf(p50(names.one).map((ms, round) => ms - (directP50[round] ?? 0)));
    const overhead = overheadOf(loadsOf(names.many), loadsOf(names.direct));
    const wayRow = (name: string, directName: string | null) => {
      return { name, loads: loadsOf(name), direct: directName === null ? null : loadsOf(directName) };
    };
    const title = `Queries in process and over HTTP (${set.items.length.toLocaleString('en-US')} items)`;
    return {
      tables: [
        throughputTable(title, results, names.many, 'queries/s'),
        overheadTable([
          wayRow(names.many, names.direct),
          wayRow(names.one, names.direct),
          wayRow(names.kept, null),
          wayRow(names.several, names.directAuto),
        ]),
      ],
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
          text: 'µs of front and worker beside the search, 64 connections (≤ 45)',
          figure: spreadFigure(overhead),
          isReached: overhead.median <= 45,
        },
        {
          text: 'ms of p50 above the search, one connection (≤ 0.25)',
          figure: spreadFigure(added),
          isReached: added.median <= 0.25,
        },
      ],
    };
  },
});
