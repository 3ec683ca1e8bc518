/** Operators of a filter's conditions (contract section 7), in the order in which mistakes list them. */
export const filterOperators = [
  'equals',
  'notEquals',
  'contains',
  'greaterThan',
  'greaterThanOrEquals',
  'lessThan',
  'lessThanOrEquals',
  'in',
] as const;

export type FilterOperator = (typeof filterOperators)[number];
