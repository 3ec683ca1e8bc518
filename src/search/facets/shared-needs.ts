import type { CheckedQuery } from '../checked-query.ts';
import type { FacetNeed } from './merge.ts';

export interface SharedNeeds {
  /** One for the facets that count the same. */
  readonly asked: readonly FacetNeed[];
  /** Place of a facet of the query -> place of its answer. */
  readonly placeOf: ReadonlyMap<number, number>;
}

/** Asks once for facets of one query that count the same values over the same items. */
export function sharedNeeds({ facets }: CheckedQuery, needs: readonly FacetNeed[]): SharedNeeds {
  const asked: FacetNeed[] = [];
  const places = new Map<string, number>();
  const placeOf = new Map<number, number>();
  for (const need of needs) {
    const facet = facets[need.facetIndex];
    const name = `${facet?.isUnfiltered === true} ${facet?.field}`;
    const at = places.get(name) ?? asked.length;
    const known = asked[at];
    asked[at] = known === undefined ? need : { ...known, values: union(known.values, need.values) };
    places.set(name, at);
    placeOf.set(need.facetIndex, at);
  }
  return { asked, placeOf };
}

function union(a: FacetNeed['values'], b: FacetNeed['values']): FacetNeed['values'] {
  return a === null || b === null ? null : [...new Set([...a, ...b])];
}
