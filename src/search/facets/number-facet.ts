/** The part of a facet that counts numbers or dates: statistics, ranges and intervals. */

import type { Steps } from '../../lib/cooperative-yield.ts';
import type { CheckedFacet, NumberFacet } from '../checked-query.ts';
import type { Column } from '../columns/column.ts';
import type { FacetGroup, NumberCounts } from '../shard-answer.ts';
import { IntervalTally, intervalGroups } from './intervals.ts';
import { numbersOf, tallyNumbers } from './number-tally.ts';
import { RangeTally, rangeGroups } from './ranges.ts';
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
