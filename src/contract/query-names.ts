/**
 * Operators of filter conditions (docs/reference/indexes-and-queries.md "Filters"), in the order in which errors list them.
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

/** Intervals of facets on dates (docs/reference/indexes-and-queries.md "Statistics, ranges and intervals"). */
export const facetIntervals = ['day', 'week', 'month', 'year'] as const;

export type FacetInterval = (typeof facetIntervals)[number];

/** Fields that every item has automatically (docs/reference/indexes-and-queries.md "The answer"). */
export const builtInFields: readonly string[] = [
  '_originId',
  '_sourceGuid',
  '_updatedAt',
  '_score',
  '_views',
];

/** Names that fields of an index schema must not have: built-in fields, and other members that a query may request. */
export const reservedFields: readonly string[] = [...builtInFields, '_viewIds', '_distance', '_highlights'];
