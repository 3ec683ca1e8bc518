/** What the in-memory index promises to the rooms above it. Pure: no Redis, no HTTP, no clock. */
import type { FilterOperator } from '../contract/filter-operators.ts';
import type { Json, JsonObject } from '../contract/json.ts';
import type { FieldTypeName } from '../schemas/definition/index-fields.ts';

/**
 * A field's type in a shard. `keywordText` and `keywordText[]` are what auto-indexing gives plain text:
 * a keyword and a text at once.
 */
export type FieldType = FieldTypeName | 'keywordText' | 'keywordText[]';

/** An index item as it is stored and loaded. */
export interface IndexItem {
  readonly partition: number;
  readonly sourceId: string;
  readonly originId: string;
  /** Milliseconds since 1970. */
  readonly updatedAtMs: number;
  /** Values that fit their types (see `fitField`); nulls and absent fields left out. */
  readonly fields: JsonObject;
  /** JSON text of the fields, where the caller has it already. */
  readonly fieldsText?: string;
}

export interface SortKey {
  readonly field: string;
  readonly order: 'asc' | 'desc';
}

/** A query after `checkQuery`: every mistake is gone, every default is filled in. Plain data: it crosses processes. */
export interface CheckedQuery {
  readonly filter: FilterNode | null;
  readonly search: { readonly field: string; readonly value: string; readonly literal: boolean } | null;
  readonly facets: readonly {
    readonly field: string;
    readonly name: string;
    readonly size: number;
    readonly isValid: boolean;
  }[];
  /** Never empty; ties are ordered by `_originId`, then `_sourceGuid`. */
  readonly sort: readonly SortKey[];
  /** Rows before the page; 0 when `after` is set. */
  readonly offset: number;
  readonly pageSize: number;
  /** Place of the last row of the page before, from its token; null without one. */
  readonly after: RowPlace | null;
}

export type FilterNode =
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly FilterNode[] }
  | {
      readonly kind: 'condition';
      readonly field: string;
      readonly operator: FilterOperator;
      readonly value: Json;
      readonly caseInsensitive: boolean;
    };

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
