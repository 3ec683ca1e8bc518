/** Intervals by which a facet on dates may count (docs/reference/indexes-and-queries.md "Statistics, ranges and intervals"). */
export const facetIntervals = ['day', 'week', 'month', 'year'] as const;

export type FacetInterval = (typeof facetIntervals)[number];
