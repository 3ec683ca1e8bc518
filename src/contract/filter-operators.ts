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
