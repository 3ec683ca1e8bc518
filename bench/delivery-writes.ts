/** `npm run bench -- delivery-writes`: what readers notice of writers. */
import type { BenchContext, BenchResult } from './support/bench.ts';
import { deliveryLoad, measureLoad, pageUrls, startPages, writePages } from './support/delivery-load.ts';
import { PageWriter } from './support/page-writer.ts';
import { ports } from './support/ports.ts';
import { type Priority, withEachPriority } from './support/priorities.ts';
import { inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';
import { ratiosOf, spreadOf } from './support/statistics.ts';
import { spreadFigure } from './support/table.ts';
import { ratioTarget, spreadsOf, throughputTable } from './support/throughput.ts';
import { requireWrk } from './support/wrk.ts';

/** What is prepared; more is made as it is sent. */
const writtenSecondsPerRound = 7;
const names = { quiet: 'without writes', busy: '200 changes/s' };

const whereTheTimeGoes =
  'Where the time goes, in processor time a change, once all are warm: 0.3 ms of the worker, 0.22 of Redis, 0.26 of the front beside what it delivers; half as much again right after a start. Together that is a sixth of a core, where wrk and the front use both when nobody writes. Each change also makes up to four pages stale: the front computes them anew, and whoever asks for one waits for a Redis that syncs every write to the disk. Changes come ten at a time, so most of the 32 connections meet such a page at once.';

await runBench({
  name: 'delivery-writes',
  question:
    'Do readers notice writers? The load of `delivery` alone, and while 200 articles a second change, spread over all pages; each change makes its page and the pages that tease it stale.',
  unfair: [
    'Changes come ten in a request every 50 ms, as from a system that gathers what its editors and importers change; one at a time they would cost more each. The requests are made before the rounds, like those of the load, so that the writer takes little from those that are measured.',
    'Itself against itself, nothing to be unfair about; but writer, worker and Redis take processor time from wrk and the front while there are writes: nothing is pinned.',
    'After each round the pages are asked for with X-Service-Min-Version and must show the last revision that was written.',
  ],
  async run(context) {
    const wrk = requireWrk(context);
    const result = await withEachPriority(context, (priority) => measured(context, wrk, priority));
    return { ...result, notes: [whereTheTimeGoes, ...(result.notes ?? [])] };
  },
});

async function measured(
  context: BenchContext,
  wrk: string,
  { name: priority, suffix, env }: Priority,
): Promise<BenchResult> {
  const { client, system } = await startPages(context, { env });
  const { requestFile } = await writePages(context, client, pageUrls(context));
  const options = { port: ports.millrace, requestFile, ...deliveryLoad(context) };
  const writer = new PageWriter(client, context.rounds * writtenSecondsPerRound);
  const results = await inRounds(context, [
    { name: names.quiet, measure: () => measureLoad(wrk, options) },
    { name: names.busy, measure: () => writer.during(() => measureLoad(wrk, options)) },
  ]);
  writer.close();
  await system.stop();
  const p99 = (name: string) => (results.get(name) ?? []).map(({ p99Ms }) => p99Ms);
  const slower = spreadOf(ratiosOf(p99(names.busy), p99(names.quiet)));
  const title = `Delivery under writes, ${priority}`;
  return {
    tables: [throughputTable(title, results, names.busy)],
    charts: [
      {
        kind: 'bars',
        file: `delivery-writes${suffix}.svg`,
        title,
        unit: 'requests/s',
        bars: spreadsOf(results, names.busy, ({ requestsPerSecond }) => requestsPerSecond),
      },
    ],
    targets: [
      ratioTarget(`${priority}: throughput of the quiet one`, results, [names.busy, names.quiet], 0.8),
      {
        text: `${priority}: p99 over that of the quiet one (≤ 3)`,
        figure: spreadFigure(slower),
        isReached: slower.median <= 3,
      },
    ].filter((target) => target !== null),
    notes: [
      `${priority}: ${writer.written} changes were written in all, ${writer.ratePerSecond()} a second while it wrote.`,
    ],
  };
}
