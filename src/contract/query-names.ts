/**
 * Operators of a filter's conditions (docs/reference/indexes-and-queries.md "Filters"), in the order in which mistakes list
 * them.
 */
export const filterOperators = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'greaterThan',
  'greaterThanOrEquals',
  'lessThan',
  'lessThanOrEquals',
  'in',
  'notIn',
  'exists',
  'withinDistance',
  'withinBox',
] as const;

export type FilterOperator = (typeof filterOperators)[number];

/** Intervals by which a facet on dates may count (docs/reference/indexes-and-queries.md "Statistics, ranges and intervals"). */
export const facetIntervals = ['day', 'week', 'month', 'year'] as const;

export type FacetInterval = (typeof facetIntervals)[number];

/** Fields that every item has by itself (docs/reference/indexes-and-queries.md "The answer"). */
export const builtInFields: readonly string[] = [
  '_originId',
  '_sourceGuid',
  '_updatedAt',
  '_score',
  '_views',
];

/** Names that no field of an index schema may have: those of built-in fields, and of what a query may ask for besides. */
export const reservedFields: readonly string[] = [...builtInFields, '_viewIds', '_distance', '_highlights'];
