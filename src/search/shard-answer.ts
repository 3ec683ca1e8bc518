/** The answers of shards, which the front merges. */
import type { NumberPoint } from './fields/number-point.ts';
import type { SearchStats } from './search-stats.ts';

/**
 * The position of a row in the order of its query: its sort values, then its ids. Positions in different shards can be
 * compared.
 */
export interface RowPlace {
  readonly values: readonly (string | number | boolean | null)[];
  readonly originId: string;
  readonly sourceId: string;
}

/** A row as it is written to a response. */
export interface ShownRow {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  /** The fields as JSON in UTF-8. May be memory of the shard, so it must not be modified. */
  readonly fieldsBytes: Buffer;
}

export interface FacetGroup {
  readonly value: string | number | boolean;
  readonly count: number;
}

/** A group of a facet by ranges. */
export interface RangeGroup extends FacetGroup {
  readonly from: number | string | null;
  readonly to: number | string | null;
}

/** Statistics, ranges and intervals of numbers and dates, as requested. */
export interface NumberCounts {
  readonly stats?: StatsPart;
  /** In the order of the ranges. */
  readonly ranges?: readonly number[];
  readonly intervals?: readonly IntervalCount[];
}

/** How to compare strings: as a 64-bit long that a double cannot represent, or as a date. */
export type TextScale = 'long' | 'date';

/** A facet's groups in one shard, by descending count, then by value. Values keep their type. */
export interface FacetGroups extends NumberCounts {
  readonly groups: readonly FacetGroup[];
  /** Upper bound for the counts of omitted groups; absent when there are none. */
  readonly restMax?: number;
  /** How string values are compared; absent for plain strings. */
  readonly scale?: TextScale;
}

/** One shard's part of an answer. */
export interface ShardAnswer {
  readonly total: number;
  /** The first `offset + pageSize` rows in order (after `after`). */
  readonly rows: readonly ShownRow[];
  /** In the order of the query's `facets`. A facet that is not valid has no groups. */
  readonly facets: readonly FacetGroups[];
  /** Number of `distinct` values found, over all populations. */
  readonly valueCount: number;
  /** The statistics used for scoring; null without a search. */
  readonly stats: SearchStats | null;
}

/** The inputs of an item's score, besides the statistics. */
export interface ScoreInputs {
  /**
   * Weighted term frequencies in twentieths: a number for each word, field and tier, grouped by word, then by field.
   */
  readonly frequencies: readonly number[];
  /** Number of words of the item in each field. */
  readonly lengths: readonly number[];
  /** Factors of its score. */
  readonly boosts: readonly number[];
}

/** A row without a score: where `place` sorts by `_score`, it has an arbitrary number. */
export interface UnscoredRow extends Omit<ShownRow, 'score'> {
  readonly inputs: ScoreInputs;
}

/** One shard's answer to a search before the statistics of all shards are known. */
export interface UnscoredAnswer {
  readonly stats: SearchStats;
  /** All matching items, unordered, and facets; null if there are too many. */
  readonly few: { readonly rows: readonly UnscoredRow[]; readonly facets: readonly FacetGroups[] } | null;
}

/** Start of an interval in milliseconds since 1970, and the number of docs in it. */
export type IntervalCount = readonly [startMs: number, count: number];

/** Statistics of one shard; `min` and `max` are null without values. */
export interface StatsPart {
  readonly count: number;
  readonly min: NumberPoint | null;
  readonly max: NumberPoint | null;
  /** The exact sum, an integer in units of 2^-1074, as a decimal string. */
  readonly sumUnits: string;
}
