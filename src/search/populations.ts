import type { CheckedQuery } from './checked-query.ts';
import type { FilterNode } from './filter/condition.ts';
import { withoutField } from './filter/without-field.ts';

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
