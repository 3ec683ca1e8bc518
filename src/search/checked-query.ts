/** The query for a shard, and the populations that its facets count. Plain data, because it is sent between processes. */
import type { FacetInterval } from '../contract/query-names.ts';
import type { ValueKind } from './fields/field-type.ts';
import type { GeoPoint } from './fields/geo-point.ts';
import type { FilterNode } from './filter/condition.ts';
import type { SearchStats } from './search-stats.ts';
import type { RowPlace } from './shard-answer.ts';

export interface SortKey {
  readonly field: string;
  readonly order: 'asc' | 'desc';
  /** Sorts by the distance from this location. At most one key has it. */
  readonly near?: GeoPoint;
  /** Sorts texts by the rules of the locale with this tag; absent: by code points. */
  readonly collation?: string;
}

/** A search for words. A doc matches by any of the fields, or, in the mode `all`, if each word matches in one of them. */
export interface CheckedSearch {
  /** Distinct fields, at least one. `weight` is over 0 and at most 100. */
  readonly fields: readonly { readonly field: string; readonly weight: number }[];
  readonly value: string;
  /** Characters that count as letters in each of the fields; absent: none. */
  readonly keep?: string;
  readonly literal: boolean;
  readonly mode: 'any' | 'all';
  /** The last word also matches words that begin with it. */
  readonly prefix: boolean;
  /** Maximum edit distance of each word; null: depends on the length of the word. */
  readonly fuzziness: number | null;
  /** Multiplies the scores. */
  readonly boost: readonly CheckedBoost[];
  /** Default origin of boosts by date, in milliseconds since 1970; null: the time of the request. */
  readonly nowMs: number | null;
  /** Meaning of the quotes and hyphens in the value, which do not affect scores; null if they are separators. */
  readonly operators: SearchOperators | null;
  /** Statistics for the scores; null if the shard has the whole index. */
  readonly stats: SearchStats | null;
}

/** A boost by a field of numbers, or of dates if there is a half-life. */
export interface CheckedBoost {
  readonly field: string;
  readonly weight: number;
  readonly halfLifeDays: number | null;
  /** Milliseconds since 1970; null: see `nowMs`. */
  readonly originMs: number | null;
}

/** True if scores depend on the time of the request. */
export function isBoundToNow({ boost }: CheckedSearch): boolean {
  return boost.some(({ halfLifeDays, originMs }) => halfLifeDays !== null && originMs === null);
}

export interface SearchOperators {
  /** The words outside quotes. */
  readonly free: string;
  /** Words that must be adjacent. */
  readonly phrases: readonly string[];
  /** Words or phrases that must not occur. */
  readonly excluded: readonly string[];
}

export interface CheckedFacet {
  readonly field: string;
  readonly name: string;
  readonly size: number;
  readonly isValid: boolean;
  /** Ignores conditions on its own field. Absent: false. */
  readonly isUnfiltered?: true;
  /** Absent for a facet with only groups by value, and for one that is not valid. */
  readonly numbers?: NumberFacet;
}

/**
 * Options of a facet for numbers or dates. At least one of `ranges` and `interval` is null; with both null, it has groups by
 * value.
 */
export interface NumberFacet {
  readonly kind: ValueKind;
  readonly stats: boolean;
  readonly ranges: readonly FacetRange[] | null;
  readonly interval: FacetInterval | null;
}

/** Includes `from` but not `to`, both as sent; null: unbounded. */
export interface FacetRange {
  readonly from: number | string | null;
  readonly to: number | string | null;
  readonly name: string | null;
}

/** How to show the found words. */
export interface CheckedHighlight {
  /** Distinct fields. */
  readonly fields: readonly string[];
  readonly before: string;
  readonly after: string;
  /** Length of a passage in code points, without marks; null for whole texts. */
  readonly length: number | null;
}

export interface CheckedDistinct {
  readonly field: string;
  /** True if facets only count the remaining items, not all matches. */
  readonly isForFacets: boolean;
  /**
   * For each of `populationsOf`, the items that are the first with their value in their shard but not overall; see `Decision`.
   * Null if each shard should report its candidates, or if one shard has all items.
   */
  readonly beaten: readonly (readonly string[])[] | null;
}

/** A valid query from `checkQuery`, with all defaults filled in. */
export interface CheckedQuery {
  readonly filter: FilterNode | null;
  readonly search: CheckedSearch | null;
  /** Also null without a search. */
  readonly highlight: CheckedHighlight | null;
  readonly facets: readonly CheckedFacet[];
  /** Return only the first item for each value of a field; null: return all. */
  readonly distinct: CheckedDistinct | null;
  /** At least one key. Ties are ordered by `_originId`, then `_sourceGuid`. */
  readonly sort: readonly SortKey[];
  /** Number of rows before the page; 0 if `after` is set. */
  readonly offset: number;
  readonly pageSize: number;
  /** Position of the last row of the previous page, from the token; null without one. */
  readonly after: RowPlace | null;
  /** Names of the item's fields to return; null for all. */
  readonly fields: readonly string[] | null;
}

/** A set of docs that facets count: those that match the search and a filter. */
export interface Population {
  readonly filter: FilterNode | null;
  /** Indexes of its facets in the query. */
  readonly facetIndexes: readonly number[];
}

/**
 * The populations of a query: first the matches of the query, then those for facets that ignore conditions on their own field.
 * Facets that are not valid are in none.
 */
export function populationsOf({ filter, facets }: CheckedQuery): Population[] {
  const ofPage: number[] = [];
  const others = new Map<string, { filter: FilterNode | null; facetIndexes: number[] }>();
  for (const [at, { field, isValid, isUnfiltered }] of facets.entries()) {
    if (!isValid) continue;
    const own = isUnfiltered === true ? withoutField(filter, field) : filter;
    const known = others.get(field);
    if (own === filter) ofPage.push(at);
    else if (known === undefined) others.set(field, { filter: own, facetIndexes: [at] });
    else known.facetIndexes.push(at);
  }
  return [{ filter, facetIndexes: ofPage }, ...others.values()];
}

/**
 * The filter without its conditions on a field; null if nothing is left. Groups that become empty are removed. If there are no
 * such conditions, returns the same object.
 */
function withoutField(node: FilterNode | null, field: string): FilterNode | null {
  if (node === null) return null;
  if (node.kind === 'condition') return node.field === field ? null : node;
  const nodes = node.nodes.map((member) => withoutField(member, field));
  if (nodes.every((member, at) => member === node.nodes[at])) return node;
  const left = nodes.filter((member) => member !== null);
  return left.length === 0 ? null : { kind: node.kind, nodes: left };
}
