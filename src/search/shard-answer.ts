/** What a shard answers, and what merging reads. */
import type { JsonObject } from '../contract/json.ts';

/** Where a row stands in the order of its query: its sort values, then its ids. Comparable over shards. */
export interface RowPlace {
  readonly values: readonly (string | number | boolean | null)[];
  readonly originId: string;
  readonly sourceId: string;
}

export interface Row {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  readonly fields: JsonObject;
  /** `fields` as JSON text; a row parses it only when `fields` is read. */
  readonly fieldsText: string;
  /** `fieldsText` in UTF-8 as the shard holds it; not to be changed. */
  readonly fieldsBytes: Buffer;
}

export interface FacetGroup {
  readonly value: string | number | boolean;
  readonly count: number;
}

/** A facet's groups of one shard, highest count first, equal counts by value. Values keep their type. */
export interface FacetGroups {
  readonly groups: readonly FacetGroup[];
  /** There are more groups, none with a count above this; absent: these are all. `mergeAnswers` must be told. */
  readonly restMax?: number;
  /** The field holds 64-bit longs: text values are numbers that a double cannot hold. */
  readonly isLong?: boolean;
}

/** One shard's part of an answer. */
export interface ShardAnswer {
  readonly total: number;
  /** The first `offset + pageSize` rows in order (after `after`). */
  readonly rows: readonly Row[];
  /** As `facets` of the query; no groups for one that is not valid. */
  readonly facets: readonly FacetGroups[];
}
