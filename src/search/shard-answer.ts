/** The answers of a shard, which are merged. */
import type { JsonObject } from '../contract/json.ts';
import type { NumberPoint } from './fields/number-point.ts';
import type { SearchStats } from './search-stats.ts';

/**
 * The place of a row in the order of its query: its sort values, then its ids. Places of different shards can be
 * compared.
 */
export interface RowPlace {
  readonly values: readonly (string | number | boolean | null)[];
  readonly originId: string;
  readonly sourceId: string;
}

/** A row as it is written into an answer. */
export interface ShownRow {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  /** JSON text of the fields in UTF-8. It may be the shard's memory and must not be changed. */
  readonly fieldsBytes: Buffer;
}

export interface Row extends ShownRow {
  readonly fields: JsonObject;
  /** `fields` as JSON text. A row parses it only when `fields` is read. */
  readonly fieldsText: string;
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

/** What a facet counts of numbers and dates, as far as it is asked for. */
export interface NumberCounts {
  readonly stats?: StatsPart;
  /** In the order of the ranges. */
  readonly ranges?: readonly number[];
  readonly intervals?: readonly IntervalCount[];
}

/** Text is a 64-bit long that a double cannot hold, or a date. */
export type TextScale = 'long' | 'date';

/** A facet's groups of one shard, the highest count first, equal counts by value. Values keep their type. */
export interface FacetGroups extends NumberCounts {
  readonly groups: readonly FacetGroup[];
  /** There are more groups, none with a count above this. Absent when these are all. */
  readonly restMax?: number;
  /** How values that are text are compared; absent: as text. */
  readonly scale?: TextScale;
}

/** One shard's part of an answer. */
export interface ShardAnswer {
  readonly total: number;
  /** The first `offset + pageSize` rows in order (after `after`). */
  readonly rows: readonly Row[];
  /** In the order of the query's `facets`. A facet that is not valid has no groups. */
  readonly facets: readonly FacetGroups[];
  /** Values of `distinct` that were found, in all populations together. */
  readonly valueCount: number;
  /** By which the rows were scored; null without a search. */
  readonly stats: SearchStats | null;
}

/** What the score of an item is computed from, besides statistics. */
export interface ScoreInputs {
  /**
   * How often the terms of a word occur, each times its factor in twentieths: a number for each word, field and tier. Those of a
   * field stand next to each other, and so do those of a word.
   */
  readonly frequencies: readonly number[];
  /** Words of the item in each field. */
  readonly lengths: readonly number[];
  /** By which its score is multiplied. */
  readonly boosts: readonly number[];
}

/** A row whose score is not known yet: in its place, any number is a sort value by `_score`. */
export interface UnscoredRow extends Omit<ShownRow, 'score'> {
  readonly inputs: ScoreInputs;
}

/** One shard's answer to a search by statistics that nobody has added up yet. */
export interface UnscoredAnswer {
  readonly stats: SearchStats;
  /** All its items that match, in no order, and its facets; null: there are too many. */
  readonly few: { readonly rows: readonly UnscoredRow[]; readonly facets: readonly FacetGroups[] } | null;
}

/** A shard's part of an answer, with its rows as they are shown. */
export interface ShownAnswer extends Omit<ShardAnswer, 'rows'> {
  readonly rows: readonly ShownRow[];
}

/** The beginning of an interval, in milliseconds since 1970, and the number of docs in it. */
export type IntervalCount = readonly [startMs: number, count: number];

/** What a shard knows of the items; `min` and `max` are null when there are none. */
export interface StatsPart {
  readonly count: number;
  readonly min: NumberPoint | null;
  readonly max: NumberPoint | null;
  /** The exact sum, a whole number of 2^-1074 as text. */
  readonly sumUnits: string;
}
