/**
 * Operators of a filter's conditions (docs/reference/indexes-and-queries.md "Filters"), in the order in which mistakes list
 * them.
 */
export const filterOperators = [
  'equals',
  'notEquals',
  'contains',
  'greaterThan',
  'greaterThanOrEquals',
  'lessThan',
  'lessThanOrEquals',
  'in',
  'withinDistance',
  'withinBox',
] as const;

export type FilterOperator = (typeof filterOperators)[number];
