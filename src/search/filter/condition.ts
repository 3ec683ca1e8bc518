import type { FilterOperator } from '../../contract/filter-operators.ts';
import type { Json } from '../../contract/json.ts';

/** An operator that asks for something in a value. `notEquals` is the opposite of `equals`, and null asks for presence. */
export type PositiveOperator = Exclude<FilterOperator, 'notEquals'>;

/** A condition on one field, as a column sees it. No value is null: nulls are taken out of the list of `in`. */
export interface Condition {
  readonly operator: PositiveOperator;
  readonly value: Json;
  readonly caseInsensitive: boolean;
}

/** The values that `equals` or `in` lists. */
export function listedValues({ operator, value }: Condition): readonly Json[] {
  return operator === 'in' && Array.isArray(value) ? value : [value];
}
