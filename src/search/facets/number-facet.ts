/** The part of a facet that counts numbers or dates: statistics, ranges and intervals. */

import { facetIntervalsMax } from '../../contract/limits.ts';
import type { FacetInterval } from '../../contract/query-names.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedFacet, FacetRange, NumberFacet } from '../checked-query.ts';
import type { Column } from '../columns/column.ts';
import { earliestMs, isoOf } from '../fields/date-text.ts';
import type { ValueKind } from '../fields/field-type.ts';
import { comparePoints, type NumberPoint, queryPointOf } from '../fields/number-point.ts';
import type { FacetGroup, IntervalCount, NumberCounts, RangeGroup } from '../shard-answer.ts';
import { type NumberTally, numbersOf, tallyNumbers } from './number-tally.ts';
import { type FacetStats, mergedStats, StatsTally } from './stats.ts';

/** True if a facet has groups by value. */
export function isByValue({ numbers }: CheckedFacet): boolean {
  return numbers === undefined || (numbers.ranges === null && numbers.interval === null);
}

/** Counts the requested options over the first `count` docs of a shard. */
export function* countNumbers(
  facet: NumberFacet,
  column: Column | undefined,
  docs: Int32Array,
  count: number,
): Steps<NumberCounts> {
  const items = numbersOf(column);
  if (items === null) return {};
  const stats = facet.stats ? new StatsTally() : null;
  const ranges = facet.ranges === null ? null : new RangeTally(facet.kind, facet.ranges);
  const intervals = facet.interval === null ? null : new IntervalTally(facet.interval);
  const tallies = [stats, ranges, intervals].filter((tally) => tally !== null);
  yield* tallyNumbers(items, docs, count, tallies);
  return {
    ...(stats === null ? {} : { stats: stats.part }),
    ...(ranges === null ? {} : { ranges: ranges.counts }),
    ...(intervals === null ? {} : { intervals: intervals.latest }),
  };
}

/** `stats` is absent if not requested. */
export interface NumberResult {
  /** Null for a facet by value. */
  readonly groups: readonly FacetGroup[] | null;
  readonly stats?: FacetStats;
}

/** The merged result of a valid facet. A shard without the field has no counts. */
export function mergedNumbers({ numbers }: CheckedFacet, parts: readonly NumberCounts[]): NumberResult {
  if (numbers === undefined) return { groups: null };
  const groups = mergedGroups(numbers, parts);
  if (!numbers.stats) return { groups };
  const ofShards = parts.flatMap(({ stats }) => stats ?? []);
  return { groups, stats: mergedStats(numbers.kind, ofShards) };
}

function mergedGroups(
  { ranges, interval }: NumberFacet,
  parts: readonly NumberCounts[],
): FacetGroup[] | null {
  if (ranges !== null) {
    return rangeGroups(
      ranges,
      parts.map((part) => part.ranges ?? []),
    );
  }
  return interval === null ? null : intervalGroups(parts.map((part) => part.intervals ?? []));
}

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

/** The slots that a range covers: from `low`, below `high`. */
interface SlotRange {
  readonly low: number;
  readonly high: number;
}

/**
 * Counts docs by range. The ends of all ranges divide the numbers into slots; slot 0 is below the first end. So each item needs
 * only one search, independent of the number of ranges.
 */
class RangeTally implements NumberTally {
  readonly #ends: readonly NumberPoint[];
  readonly #ranges: readonly SlotRange[];
  /** Docs whose items are all in one slot, by slot. */
  readonly #inSlot: Float64Array;
  /** Docs with items in several slots, by range. */
  readonly #ofMany: Float64Array;
  /** The slots of the current doc, ascending and distinct. */
  #slots: number[] = [];

  constructor(kind: ValueKind, ranges: readonly FacetRange[]) {
    const bounds = ranges.map(({ from, to }) => ({ from: pointOf(kind, from), to: pointOf(kind, to) }));
    const all = bounds.flatMap(({ from, to }) => [from, to]).filter((point) => point !== null);
    all.sort(comparePoints);
    this.#ends = all.filter((point, at) => at === 0 || comparePoints(point, all[at - 1] ?? point) !== 0);
    this.#ranges = bounds.map(({ from, to }) => ({
      low: from === null ? 0 : this.#slotOf(from.approx, from.residual),
      high: to === null ? this.#ends.length + 1 : this.#slotOf(to.approx, to.residual),
    }));
    this.#inSlot = new Float64Array(this.#ends.length + 1);
    this.#ofMany = new Float64Array(ranges.length);
  }

  add(approx: number, residual: number): void {
    const slot = this.#slotOf(approx, residual);
    if (this.#slots.at(-1) !== slot) this.#slots.push(slot);
  }

  endDoc(): void {
    const slots = this.#slots;
    const [first = 0] = slots;
    if (slots.length === 1) this.#inSlot[first] = (this.#inSlot[first] ?? 0) + 1;
    else this.#countMany(slots);
    this.#slots = [];
  }

  /** Number of docs in each range, in the order of the ranges. */
  get counts(): number[] {
    return this.#ranges.map(({ low, high }, at) => {
      let count = this.#ofMany[at] ?? 0;
      for (let slot = low; slot < high; slot += 1) count += this.#inSlot[slot] ?? 0;
      return count;
    });
  }

  #countMany(slots: readonly number[]): void {
    for (const [at, { low, high }] of this.#ranges.entries()) {
      workBudget.units += slots.length;
      if (slots.some((slot) => slot >= low && slot < high)) this.#ofMany[at] = (this.#ofMany[at] ?? 0) + 1;
    }
  }

  /** The number of ends that are not above the number. */
  #slotOf(approx: number, residual: number): number {
    let low = 0;
    let high = this.#ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const end = this.#ends[middle];
      if (end === undefined) break;
      if (end.approx < approx || (end.approx === approx && end.residual <= residual)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function pointOf(kind: ValueKind, end: FacetRange['from']): NumberPoint | null {
  return end === null ? null : queryPointOf(kind, end);
}

/** Merges the groups of all shards. @param parts counts in the order of the ranges */
function rangeGroups(ranges: readonly FacetRange[], parts: readonly (readonly number[])[]): RangeGroup[] {
  return ranges.map(({ from, to, name }, at) => ({
    value: name ?? `${from ?? '*'}-${to ?? '*'}`,
    from,
    to,
    count: parts.reduce((sum, counts) => sum + (counts[at] ?? 0), 0),
  }));
}
