/** Groups of a facet by days, weeks, months or years (docs/reference/indexes-and-queries.md "Statistics, ranges and intervals"). */

import { facetIntervalsMax } from '../../contract/limits.ts';
import type { FacetInterval } from '../../contract/query-names.ts';
import { workBudget } from '../../lib/cooperative-yield.ts';
import { earliestMs, isoOf } from '../fields/date-text.ts';
import type { FacetGroup, IntervalCount } from '../shard-answer.ts';
import type { NumberTally } from './number-tally.ts';

const dayMs = 86_400_000;

/** 1970-01-01 was a Thursday, three days after a Monday. */
const mondayOffsetDays = 3;

/** The cost of a calendar calculation, in units of the work budget. */
const calendarUnits = 40;

/** The start of the interval that contains a time, in UTC. Weeks begin on Monday. */
function startOf(interval: FacetInterval, epochMs: number): number {
  const day = Math.floor(epochMs / dayMs);
  if (interval === 'day') return day * dayMs;
  if (interval === 'week') {
    const weekday = (((day + mondayOffsetDays) % 7) + 7) % 7;
    return Math.max(earliestMs, (day - weekday) * dayMs);
  }
  const date = new Date(day * dayMs);
  workBudget.units += calendarUnits;
  const startMs = interval === 'month' ? date.setUTCDate(1) : date.setUTCMonth(0, 1);
  return Number.isNaN(startMs) ? earliestMs : startMs;
}

/** Counts docs by interval. */
export class IntervalTally implements NumberTally {
  readonly #interval: FacetInterval;
  readonly #counts = new Map<number, number>();
  /** The interval of the previous item of the current doc. */
  #startMs = Number.NaN;

  constructor(interval: FacetInterval) {
    this.#interval = interval;
  }

  add(approx: number): void {
    const startMs = startOf(this.#interval, approx);
    // The items of a doc ascend, so equal intervals are adjacent.
    if (startMs === this.#startMs) return;
    this.#startMs = startMs;
    this.#counts.set(startMs, (this.#counts.get(startMs) ?? 0) + 1);
  }

  endDoc(): void {
    this.#startMs = Number.NaN;
  }

  /** The latest intervals, in chronological order. They are enough to determine the latest of all shards. */
  get latest(): IntervalCount[] {
    return latestOf(this.#counts);
  }
}

function latestOf(counts: ReadonlyMap<number, number>): IntervalCount[] {
  return [...counts].sort(([a], [b]) => a - b).slice(-facetIntervalsMax);
}

/** Merges the groups of all shards. @param parts the latest intervals of each shard */
export function intervalGroups(parts: readonly (readonly IntervalCount[])[]): FacetGroup[] {
  const counts = new Map<number, number>();
  for (const part of parts) {
    for (const [startMs, count] of part) counts.set(startMs, (counts.get(startMs) ?? 0) + count);
  }
  return latestOf(counts).map(([startMs, count]) => ({ value: isoOf(startMs), count }));
}
