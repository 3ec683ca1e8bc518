/** `npm run bench -- growth`: what changes when an index gets a hundred times larger. */

import type { BenchContext, Target } from './support/bench.ts';
import { cityItems, itemIndex, itemsTenant } from './support/data/items.ts';
import { clientKeyOf } from './support/data/tenant.ts';
import { load, prepareRequests, requireWrk } from './support/load/wrk.ts';
import { megabytes } from './support/platform/memory.ts';
import { ports } from './support/ports.ts';
import { headersToRun } from './support/query/contenders.ts';
import { GrownIndex } from './support/query/grown-index.ts';
import { type ExpectedQuery, type QueryKind, queryKinds } from './support/query/kinds.ts';
import { queryMix } from './support/query/mix.ts';
import { partCosts } from './support/query/part-costs.ts';
import type { Line } from './support/report/line-chart.ts';
import { quantile, type Spread, spreadOf } from './support/report/statistics.ts';
import { figure, spreadFigure } from './support/report/table.ts';
import { loadsInRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

const portion = 2_000;
const quickCities = 3_000;
/** Time for measuring at one size, with a margin. */
const measuringMs = 60_000;

interface Measurement {
  readonly size: number;
  /** Items per second of portions that were added at this size. */
  readonly ingest: Spread;
  readonly kinds: ReadonlyMap<QueryKind, { readonly p50Ms: Spread; readonly found: number }>;
  readonly workerBytes: number;
}

await runBench({
  name: 'growth',
  question:
    'What changes when an index grows from 10,000 to 1,000,000 items, and what does each part of it cost? Cities repeated with new ids and varied words; at each size five more portions of 2,000 items, and the same queries over one connection.',
  caveats: [
    'Millrace is compared with itself. Sizes follow one another in one run, so other work on the machine can affect one of them.',
    'Every query is executed. The front answers none from its cache.',
    'A p50 over HTTP has a constant part, the round trip to the worker. The shard alone is in `query-overhead`.',
    'Bytes for each item are the resident memory of the worker less that of an empty one, garbage included.',
    'Bytes of the parts are those of the heap of a process without garbage, minus those of the first row. A part without cost is computed from the rows of a page, or from existing structures.',
  ],
  async run(context) {
    const wrk = requireWrk(context);
    const { items } = await cityItems(context.quick ? quickCities : Number.POSITIVE_INFINITY);
    const costs = partCosts(items);
    const sizes = context.quick ? [500, 2_000] : [10_000, 100_000, 1_000_000];
    const index = await GrownIndex.start(context);
    const emptyBytes = index.workerMemory?.residentBytes ?? 0;
    const mix = queryMix(index.first(sizes[0] ?? 0), context).repeated;
    await index.growTo(1, measuringMs);
    const headers = await headersToRun(index.client, index.first(1));
    const files = new Map(queryKinds.map((kind) => [kind, requestFile(context, mix, kind, headers)]));
    const measured: Measurement[] = [];
    for (const size of sizes) {
      const isThere = await index.growTo(size, measuringMs);
      measured.push(await measureAt(context, wrk, index, mix, files));
      if (!isThere) break;
    }
    return {
      tables: [
        {
          title: 'By number of items',
          columns: ['', ...measured.map(({ size }) => size.toLocaleString('en-US'))],
          rows: [
            ['items/s coming in', ...measured.map(({ ingest }) => spreadFigure(ingest))],
            ...queryKinds.map((kind) => [
              `${kind}: p50 ms (found)`,
              ...measured.map(({ kinds }) => {
                const one = kinds.get(kind);
                return one === undefined ? '–' : `${figure(one.p50Ms.median)} (${figure(one.found)})`;
              }),
            ]),
            ['memory of the worker', ...measured.map(({ workerBytes }) => megabytes(workerBytes))],
            [
              'bytes an item',
              ...measured.map(({ size, workerBytes }) => figure((workerBytes - emptyBytes) / size)),
            ],
          ],
        },
        costs,
      ],
      charts: [
        {
          kind: 'lines',
          file: 'growth.svg',
          title: 'p50 by number of items, one connection',
          unit: 'ms; both axes are logarithmic',
          xLabel: 'items in the index',
          lines: queryKinds.map((kind) => line(kind, measured)),
        },
      ],
      targets: targetsOf(measured),
    };
  },
});

async function measureAt(
  context: BenchContext,
  wrk: string,
  index: GrownIndex,
  mix: readonly ExpectedQuery[],
  files: ReadonlyMap<QueryKind, string>,
): Promise<Measurement> {
  const size = index.size;
  const workerBytes = index.workerMemory?.residentBytes ?? 0;
  const found = new Map<QueryKind, number[]>();
  for (const { kind, query } of mix) {
    const { totalResults } = await index.client.query(itemIndex, JSON.parse(JSON.stringify(query)));
    found.set(kind, [...(found.get(kind) ?? []), totalResults]);
  }
  const results = await loadsInRounds<number>(context, [
    { name: 'ingest', measure: () => index.add(context.quick ? portion / 10 : portion) },
    ...queryKinds.map((kind) => ({
      name: kind,
      measure: async () => {
        const options = {
          port: ports.millrace,
          requestFile: files.get(kind) ?? '',
          connections: 1,
          seconds: 1,
        };
        return (await load(wrk, options)).p50Ms;
      },
    })),
  ]);
  return {
    size,
    workerBytes,
    ingest: spreadOf(results.get('ingest') ?? []),
    kinds: new Map(
      queryKinds.map((kind) => [
        kind,
        { p50Ms: spreadOf(results.get(kind) ?? []), found: quantile(found.get(kind) ?? [0], 0.5) },
      ]),
    ),
  };
}

function requestFile(
  context: BenchContext,
  mix: readonly ExpectedQuery[],
  kind: QueryKind,
  headers: Readonly<Record<string, string>>,
): string {
  const queries = mix.filter((query) => query.kind === kind);
  return prepareRequests(
    context,
    kind.replaceAll(/[^a-z]+/g, '-'),
    queries.map(({ query }) => ({
      method: 'POST',
      path: `/v1/${itemIndex}`,
      headers: { 'X-Api-Key': clientKeyOf(itemsTenant), ...headers },
      body: JSON.stringify(query),
    })),
  );
}

function line(kind: QueryKind, measured: readonly Measurement[]): Line {
  return {
    label: kind,
    points: measured.map(({ size, kinds }) => ({ x: size, y: kinds.get(kind)?.p50Ms.median ?? 0 })),
  };
}

function targetsOf(measured: readonly Measurement[]): Target[] {
  const [first, last] = [measured[0], measured.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const rate = last.ingest.median / first.ingest.median;
  const from = `${first.size.toLocaleString('en-US')} to ${last.size.toLocaleString('en-US')}`;
  const growths = queryKinds.map((kind) => {
    const [before, after] = [first.kinds.get(kind), last.kinds.get(kind)];
    const slower = (after?.p50Ms.median ?? 0) / (before?.p50Ms.median ?? 1);
    const more = Math.max(1, (after?.found ?? 0) / Math.max(1, before?.found ?? 1));
    return {
      text: `${kind}, ${from}: p50 grows no faster than what is found`,
      figure: `${figure(slower)} times slower, ${figure(more)} times as many`,
      isReached: slower <= more,
    };
  });
  return [
    ...growths,
    { text: `items/s coming in, ${from} (≥ 0.8)`, figure: figure(rate), isReached: rate >= 0.8 },
  ];
}
