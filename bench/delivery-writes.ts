/** `npm run bench -- delivery-writes`: the effect of writers on readers. */
import type { BenchContext, BenchResult } from './support/bench.ts';
import { deliveryLoad, measureLoad, pageUrls, startPages, writePages } from './support/delivery/load.ts';
import { PageWriter } from './support/delivery/page-writer.ts';
import { load, requireWrk } from './support/load/wrk.ts';
import { type Priority, withEachPriority } from './support/platform/priorities.ts';
import { ports } from './support/ports.ts';
import { ratiosOf, spreadOf } from './support/report/statistics.ts';
import { spreadFigure } from './support/report/table.ts';
import { ratioTarget, spreadsOf, throughputTable } from './support/report/throughput.ts';
import { inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

/** Seconds of changes that are prepared before a round. Later ones are prepared as they are sent. */
const writtenSecondsPerRound = 7;
/** Right after a start the worker spends a quarter of its time on compiling new code. */
const warmUpSeconds = 20;
const names = { quiet: 'without writes', busy: '200 changes/s' };

const whereTheTimeGoes =
  'Where the time goes, in processor time for each change, once all caches are warm: about 0.3 ms of the worker, 0.2 ms of Redis, and 0.25 ms of the front in addition to what it delivers. Nearly half of the share of the front renders pages again; the rest accepts the change and reads its outcome. Together that is a seventh of a core. Without writers, wrk and the front use both cores and each waits for the other, so anything else that runs slows both down. A change invalidates two pages: its own and the one that shows its teaser. The twenty pages of one write request leave the cache of the front together and are read again together, and a request for one of them waits for that read. Redis syncs to the disk twice for each write request: for the accepted entities, then for the views that ten partitions made of them.';

await runBench({
  name: 'delivery-writes',
  question:
    'Do writers slow down readers? The load of `delivery` alone, and while 200 articles a second change, spread over all pages; each change invalidates its page and the pages with a teaser of it.',
  caveats: [
    'Changes are sent ten in a request every 50 ms, as from a system that batches the changes of its editors and importers. A single change would cost more. The requests are prepared before the rounds, like those of the load, so that the writer takes little time from the measured processes.',
    'Millrace is compared with itself. Writer, worker and Redis take processor time from wrk and the front while there are writes, because no process is pinned.',
    `${warmUpSeconds} s of writes under the same load precede the rounds, while Node compiles its code.`,
    'After each round the pages are requested with X-Service-Min-Version and must show the last revision that was written.',
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
  const writer = new PageWriter(client, warmUpSeconds + context.rounds * writtenSecondsPerRound);
  if (!context.quick) await writer.during(() => load(wrk, { ...options, seconds: warmUpSeconds }));
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
