/**
 * The query that a shard answers, and the populations that its facets count. It is plain data, because it crosses
 * processes.
 */
import type { FacetInterval } from '../contract/query-names.ts';
import type { ValueKind } from './fields/field-type.ts';
import type { GeoPoint } from './fields/geo-point.ts';
import type { FilterNode } from './filter/condition.ts';
import type { SearchStats } from './search-stats.ts';
import type { RowPlace } from './shard-answer.ts';

export interface SortKey {
  readonly field: string;
  readonly order: 'asc' | 'desc';
  /** Sorts by the distance from this place. At most one key has it. */
  readonly near?: GeoPoint;
  /** Sorts texts in the order of the locale with this tag; absent: by code points. */
  readonly collation?: string;
}

/** A search for words. A doc matches by any of the fields, or, in the mode `all`, if each word matches in one of them. */
export interface CheckedSearch {
  /** At least one, each once. `weight` is over 0, and at most 100. */
  readonly fields: readonly { readonly field: string; readonly weight: number }[];
  readonly value: string;
  /** Characters that count as letters in each of the fields; absent: none. */
  readonly keep?: string;
  readonly literal: boolean;
  readonly mode: 'any' | 'all';
  /** The last word also matches words that begin with it. */
  readonly prefix: boolean;
  /** Edits that each word may have; null where the word's length says it. */
  readonly fuzziness: number | null;
  /** Multiplies the scores. */
  readonly boost: readonly CheckedBoost[];
  /** The origin of boosts by date that name none, in milliseconds since 1970; null: it is the time of the request. */
  readonly nowMs: number | null;
  /** Meaning of quotes and hyphens in the value, which is scored by its words alone; null if they are separators. */
  readonly operators: SearchOperators | null;
  /** By which the items are scored; null: the shard that answers has the whole index. */
  readonly stats: SearchStats | null;
}

/** Of a field of numbers, or of dates when there is a half-life. */
export interface CheckedBoost {
  readonly field: string;
  readonly weight: number;
  readonly halfLifeDays: number | null;
  /** Milliseconds since 1970; null: see `nowMs`. */
  readonly originMs: number | null;
}

/** True when scores depend on the time of the request. */
export function isBoundToNow({ boost }: CheckedSearch): boolean {
  return boost.some(({ halfLifeDays, originMs }) => halfLifeDays !== null && originMs === null);
}

export interface SearchOperators {
  /** The words that are in no quotes. */
  readonly free: string;
  /** Words that must be next to each other. */
  readonly phrases: readonly string[];
  /** Words, or several next to each other, that must not be there. */
  readonly excluded: readonly string[];
}

export interface CheckedFacet {
  readonly field: string;
  readonly name: string;
  readonly size: number;
  readonly isValid: boolean;
  /** It counts as if there were no condition on its field. Absent: false. */
  readonly isUnfiltered?: true;
  /** Absent: nothing but groups by value is asked for. A facet that is not valid has none. */
  readonly numbers?: NumberFacet;
}

/** Options of a facet on numbers or dates. One of `ranges` and `interval` is null; both are for groups by value. */
export interface NumberFacet {
  readonly kind: ValueKind;
  readonly stats: boolean;
  readonly ranges: readonly FacetRange[] | null;
  readonly interval: FacetInterval | null;
}

/** From `from`, below `to`, as they were sent; null: open. */
export interface FacetRange {
  readonly from: number | string | null;
  readonly to: number | string | null;
  readonly name: string | null;
}

/** How the words that a search found are shown. */
export interface CheckedHighlight {
  /** Each once. */
  readonly fields: readonly string[];
  readonly before: string;
  readonly after: string;
  /** Code points of a passage, without marks; null for whole texts. */
  readonly length: number | null;
}

export interface CheckedDistinct {
  readonly field: string;
  /** Facets count what is left, not all that match. */
  readonly isForFacets: boolean;
  /**
   * Items that are the first of their value in their shard, and not of all, for each of `populationsOf`; see `Decision`.
   * Null to let each shard report its own, unless one shard has all items.
   */
  readonly beaten: readonly (readonly string[])[] | null;
}

/** A query from `checkQuery`: it has no mistakes, and every default is filled in. */
export interface CheckedQuery {
  readonly filter: FilterNode | null;
  readonly search: CheckedSearch | null;
  /** Null without a search too. */
  readonly highlight: CheckedHighlight | null;
  readonly facets: readonly CheckedFacet[];
  /** Of each value of a field only the first item; null for none. */
  readonly distinct: CheckedDistinct | null;
  /** At least one key. Ties are ordered by `_originId`, then `_sourceGuid`. */
  readonly sort: readonly SortKey[];
  /** Rows before the page; 0 when `after` is set. */
  readonly offset: number;
  readonly pageSize: number;
  /** Place of the last row of the page before, from its token; null without one. */
  readonly after: RowPlace | null;
  /** Names of the item's fields to return; null for all. */
  readonly fields: readonly string[] | null;
}

/** Docs that facets count: those that match the search and a filter. */
export interface Population {
  readonly filter: FilterNode | null;
  /** Places of its facets in the query. */
  readonly facetIndexes: readonly number[];
}

/**
 * The populations of a query: first the docs of its page, then those of facets that count as if there were no condition on
 * their field. Facets that are not valid are in none.
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
 * The filter without its conditions on a field; null when nothing is left. A group that loses all its members is no
 * condition. A filter that has none on the field is given back itself.
 */
function withoutField(node: FilterNode | null, field: string): FilterNode | null {
  if (node === null) return null;
  if (node.kind === 'condition') return node.field === field ? null : node;
  const nodes = node.nodes.map((member) => withoutField(member, field));
  if (nodes.every((member, at) => member === node.nodes[at])) return node;
  const left = nodes.filter((member) => member !== null);
  return left.length === 0 ? null : { kind: node.kind, nodes: left };
}
