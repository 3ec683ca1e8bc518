/** `npm run bench -- start`: how long a worker takes from its start until every query is answered again. */
import type { BenchContext, Target } from './support/bench.ts';
import { itemIndex } from './support/data/items.ts';
import { megabytes, type ProcessMemory } from './support/platform/memory.ts';
import { GrownIndex } from './support/query/grown-index.ts';
import { type Spread, spreadOf } from './support/report/statistics.ts';
import { spreadFigure } from './support/report/table.ts';
import { inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

interface Start {
  readonly seconds: number;
  /** Memory of the new worker once it is ready, and the most that it had before. */
  readonly memory: ProcessMemory | null;
}

/** How a worker starts. */
type StartMode = 'with a snapshot' | 'without';
const startModes: readonly StartMode[] = ['with a snapshot', 'without'];

interface Measurement {
  readonly size: number;
  readonly mode: StartMode;
  readonly seconds: Spread;
  readonly memory: ProcessMemory | null;
}

/** Time reserved for the restarts at the larger size. */
const restartsMs = 210_000;

await runBench({
  name: 'start',
  question:
    'How long does a worker take to become ready? The only worker is stopped and started again, and /health/ready is polled until it succeeds: all partitions owned, all index items loaded from Redis, with the snapshot that the stopped worker wrote, or without one.',
  caveats: [
    'Millrace is compared with itself. The figure includes the start of Node and of the TypeScript loader. It also includes heartbeats: a ready worker is noticed up to a second later.',
    'Redis runs all the time. Loading its own file is not measured.',
  ],
  async run(context) {
    const sizes = context.quick ? [2_000] : [139_000, 1_000_000];
    const limitsS = [2, 10];
    const index = await GrownIndex.start(context);
    const measured: Measurement[] = [];
    for (const size of sizes) {
      const isComplete = await index.growTo(size, restartsMs);
      measured.push(...(await measureStarts(context, index)));
      if (!isComplete) break;
    }
    return {
      tables: [
        {
          title: 'From the start of the worker until the platform is ready',
          columns: ['items', '', 'seconds (quartiles)', 'memory when ready', 'most memory on the way'],
          rows: measured.map(({ size, mode, seconds, memory }) => [
            size.toLocaleString('en-US'),
            mode,
            spreadFigure(seconds),
            memory === null ? '–' : megabytes(memory.residentBytes),
            memory === null ? '–' : megabytes(memory.peakBytes),
          ]),
        },
      ],
      charts: [
        {
          kind: 'bars',
          file: 'start.svg',
          title: 'A worker starts',
          unit: 'seconds until ready',
          bars: measured.map(({ size, mode, seconds }) => ({
            label: `${size.toLocaleString('en-US')} items, ${mode}`,
            spread: seconds,
            isOurs: mode === 'with a snapshot',
          })),
        },
      ],
      notes: [
        'Where the time goes without a snapshot (a profile of the worker): adding words to the inverted index takes a third, and garbage collection a sixth. Splitting texts into words, the columns of ids and names, and parsing the stored items take a tenth each. Redis sends the next portion meanwhile. With a snapshot and a million items, reading the file takes a quarter, and the start of the process a tenth. The rest reads items from Redis and compares them: half of that waits for Redis, a fifth reads its replies, a fifth compares bytes, and a tenth finds ids.',
      ],
      targets: measured
        .filter(({ mode }) => mode === 'with a snapshot')
        .map(
          ({ size, seconds }, at): Target => ({
            text: `seconds with ${size.toLocaleString('en-US')} items (≤ ${limitsS[at] ?? 10})`,
            figure: spreadFigure(seconds),
            isReached: seconds.median <= (limitsS[at] ?? 10),
          }),
        ),
    };
  },
});

async function measureStarts(context: BenchContext, index: GrownIndex): Promise<Measurement[]> {
  const contenders = startModes.map((name) => ({ name, measure: () => restart(index, name) }));
  const measured = await inRounds<Start>(context, contenders);
  return startModes.map((mode) => {
    const starts = measured.get(mode) ?? [];
    const seconds = spreadOf(starts.map((start) => start.seconds));
    return { size: index.size, mode, seconds, memory: starts.at(-1)?.memory ?? null };
  });
}

async function restart(index: GrownIndex, mode: StartMode): Promise<Start> {
  const { system, client } = index;
  const seconds = await system.restartWorkers(() => {
    if (mode === 'without') system.removeSnapshots();
  });
  const { totalResults } = await client.query(itemIndex, { pagination: { pageSize: 0 } });
  if (totalResults !== index.size) throw new Error(`${totalResults} of ${index.size} items were found`);
  return { seconds, memory: index.workerMemory };
}
