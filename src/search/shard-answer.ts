/** The answers of a shard, which are merged. */
import type { JsonObject } from '../contract/json.ts';

/**
 * The place of a row in the order of its query: its sort values, then its ids. Places of different shards can be
 * compared.
 */
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
  /** `fields` as JSON text. A row parses it only when `fields` is read. */
  readonly fieldsText: string;
  /** `fieldsText` in UTF-8. It is the shard's memory and must not be changed. */
  readonly fieldsBytes: Buffer;
}

export interface FacetGroup {
  readonly value: string | number | boolean;
  readonly count: number;
}

/** A facet's groups of one shard, the highest count first, equal counts by value. Values keep their type. */
export interface FacetGroups {
  readonly groups: readonly FacetGroup[];
  /** There are more groups, none with a count above this. Absent when these are all. */
  readonly restMax?: number;
  /** The field holds 64-bit longs. A text value is then a number that a double cannot hold. */
  readonly isLong?: boolean;
}

/** One shard's part of an answer. */
export interface ShardAnswer {
  readonly total: number;
  /** The first `offset + pageSize` rows in order (after `after`). */
  readonly rows: readonly Row[];
  /** In the order of the query's `facets`. A facet that is not valid has no groups. */
  readonly facets: readonly FacetGroups[];
}
