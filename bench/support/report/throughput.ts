/** Tables, bars and targets for contenders that were put under the same load. */

import type { Target } from '../bench.ts';
import type { LoadResult } from '../load/wrk.ts';
import type { Bar } from './bar-chart.ts';
import { ratiosOf, spreadOf } from './statistics.ts';
import { figure, spreadFigure, type Table } from './table.ts';

type Results = ReadonlyMap<string, readonly LoadResult[]>;

/**
 * One row for each contender. The last column is the ratio of ours to theirs, within each round.
 * @param rate what is counted
 */
export function throughputTable(title: string, results: Results, ours: string, rate = 'requests/s'): Table {
  return {
    title,
    columns: ['', `${rate} (quartiles)`, 'p50 ms', 'p99 ms', `${ours} / this one`],
    rows: [...results].map(([name, loads]) => [
      name,
      spreadFigure(spreadOf(loads.map(({ requestsPerSecond }) => requestsPerSecond))),
      figure(spreadOf(loads.map(({ p50Ms }) => p50Ms)).median),
      figure(spreadOf(loads.map(({ p99Ms }) => p99Ms)).median),
      name === ours ? '1' : spreadFigure(spreadOf(ratios(results, [ours, name]))),
    ]),
  };
}

export function spreadsOf<T>(
  results: ReadonlyMap<string, readonly T[]>,
  ours: string,
  figureOf: (result: T) => number,
): Bar[] {
  return [...results].map(([name, measured]) => ({
    label: name,
    spread: spreadOf(measured.map(figureOf)),
    isOurs: name === ours,
  }));
}

/**
 * A target: requests per second of the first over the second must be at least `least`; null when one of them was not
 * measured.
 */
export function ratioTarget(
  text: string,
  results: Results,
  names: readonly [string, string],
  least: number,
): Target | null {
  const values = ratios(results, names);
  if (values.length === 0) return null;
  const spread = spreadOf(values);
  return { text: `${text} (≥ ${least})`, figure: spreadFigure(spread), isReached: spread.median >= least };
}

function ratios(results: Results, [one, other]: readonly [string, string]): number[] {
  const rate = (name: string) => (results.get(name) ?? []).map(({ requestsPerSecond }) => requestsPerSecond);
  return ratiosOf(rate(one), rate(other));
}
