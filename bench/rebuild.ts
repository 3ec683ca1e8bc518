/** `npm run bench -- rebuild`: the cost of keeping views up to date automatically. */

import type { BenchContext, BenchResult } from './support/bench.ts';
import { megabytes } from './support/platform/memory.ts';
import { type ListMeasurement, measureList } from './support/rebuild/list.ts';
import { measurePrecision, type PrecisionMeasurement } from './support/rebuild/precision.ts';
import { type RenameMeasurement, RenameScenario } from './support/rebuild/rename.ts';
import { quantile, ratiosOf, spreadOf } from './support/report/statistics.ts';
import { figure, spreadFigure } from './support/report/table.ts';
import { inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

const names = { list: 'page lists the children', plain: 'page without the list' };
const quietChanges = 20;

await runBench({
  name: 'rebuild',
  question:
    'What does it cost that views follow their lookups? A parent whose page lists its children while they are added; a renamed entity that very many pages looked up; cities that no page shows.',
  caveats: [
    'Millrace is compared with itself. Other products leave this work to their users, so there is no peer to measure.',
    'A lookup returns at most 1,000 results, so the list of 10,000 children has the first 1,000 by rank.',
    'The rename is measured until its version is visible, which covers every page that was rebuilt because of it. A sample of the pages is read to prove it.',
  ],
  async run(context) {
    const list = await listPart(context);
    const rename = await renamePart(context);
    const precision = await precisionPart(context);
    const parts = [list, rename, precision];
    return {
      tables: parts.flatMap(({ tables }) => tables),
      charts: parts.flatMap(({ charts }) => charts),
      targets: parts.flatMap(({ targets }) => targets),
    };
  },
});

async function listPart(context: BenchContext): Promise<BenchResult> {
  const childCount = context.quick ? 300 : 10_000;
  const results = await inRounds<ListMeasurement>(context, [
    { name: names.plain, measure: () => measureList(context, childCount, false) },
    { name: names.list, measure: () => measureList(context, childCount, true) },
  ]);
  const seconds = (name: string) => (results.get(name) ?? []).map((one) => one.seconds);
  const ratio = spreadOf(ratiosOf(seconds(names.list), seconds(names.plain)));
  const lag = spreadOf((results.get(names.list) ?? []).map(({ listLagMs }) => listLagMs ?? 0));
  return {
    tables: [
      {
        title: `${childCount.toLocaleString('en-US')} children come in`,
        columns: ['', 'seconds until all is right (quartiles)'],
        rows: [...results.keys()].map((name) => [name, spreadFigure(spreadOf(seconds(name)))]),
      },
    ],
    charts: [
      {
        kind: 'bars',
        file: 'rebuild.svg',
        title: 'Children come in, with and without a page that lists them',
        unit: 'seconds until all is right',
        bars: [...results.keys()].map((label) => ({
          label,
          spread: spreadOf(seconds(label)),
          isOurs: label === names.list,
        })),
      },
    ],
    targets: [
      {
        text: 'with the list over without (≤ 1.5)',
        figure: spreadFigure(ratio),
        isReached: ratio.median <= 1.5,
      },
      {
        text: 'ms from the last child until the list is right (≤ 2,000)',
        figure: spreadFigure(lag),
        isReached: lag.median <= 2_000,
      },
    ],
  };
}

async function renamePart(context: BenchContext): Promise<BenchResult> {
  const pages = context.quick ? 500 : 16_000;
  const scenario = await RenameScenario.prepare(context, pages);
  const quiet: number[] = [];
  for (let at = 0; at < quietChanges; at += 1) quiet.push(await scenario.idleChangeMs());
  const before = scenario.workerMemory;
  const name = 'rename';
  const measured =
    (await inRounds<RenameMeasurement>(context, [{ name, measure: () => scenario.measure() }])).get(name) ??
    [];
  await scenario.stop();
  const others = measured.flatMap(({ otherTenantMs }) => otherTenantMs);
  const slowestMs = Math.max(...others);
  const peak = measured.at(-1)?.memory ?? null;
  const memory =
    before === null || peak === null
      ? '–'
      : `${megabytes(before.residentBytes)} before, at most ${megabytes(peak.peakBytes)}`;
  const rate = measured.map(({ seconds }) => pages / seconds);
  return {
    tables: [
      {
        title: `One entity is renamed that ${pages.toLocaleString('en-US')} pages looked up`,
        columns: ['', 'figure'],
        rows: [
          [
            'seconds until every page has the new name',
            spreadFigure(spreadOf(measured.map(({ seconds }) => seconds))),
          ],
          ['pages rebuilt a second', spreadFigure(spreadOf(rate))],
          ["another tenant's change, quiet: median ms until visible", figure(quantile(quiet, 0.5))],
          ["another tenant's change, meanwhile: median ms until visible", figure(quantile(others, 0.5))],
          ["another tenant's change, meanwhile: slowest ms until visible", figure(slowestMs)],
          ['memory of the worker', memory],
        ],
      },
    ],
    charts: [],
    targets: [
      {
        text: "ms until another tenant's change is visible meanwhile, the slowest (≤ 1,000)",
        figure: `${figure(slowestMs)} of ${others.length} changes`,
        isReached: slowestMs <= 1_000,
      },
    ],
  };
}

async function precisionPart(context: BenchContext): Promise<BenchResult> {
  const { outside, inside } = await measurePrecision(context, context.quick ? 1_000 : 40_000);
  const row = (name: string, { changes, recomputed, rewritten }: PrecisionMeasurement) => [
    name,
    String(changes),
    String(recomputed),
    String(rewritten),
  ];
  return {
    tables: [
      {
        title: 'Cities change; a country page lists its ten largest',
        columns: ['', 'cities changed', 'pages recomputed', 'pages rewritten'],
        rows: [row('outside of the ten largest', outside), row('among the ten largest', inside)],
      },
    ],
    charts: [],
    targets: [
      {
        text: 'pages rewritten for cities that none shows (0)',
        figure: String(outside.rewritten),
        isReached: outside.rewritten === 0,
      },
      {
        text: 'pages recomputed for each of them (≤ 1)',
        figure: figure(outside.recomputed / outside.changes),
        isReached: outside.recomputed <= outside.changes,
      },
      {
        text: 'pages rewritten for cities that one shows (1 each)',
        figure: figure(inside.rewritten / inside.changes),
        isReached: inside.rewritten === inside.changes,
      },
    ],
  };
}
