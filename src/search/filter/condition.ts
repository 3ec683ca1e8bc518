import type { Json } from '../../contract/json.ts';
import type { FilterOperator } from '../../contract/query-names.ts';

/** Each operator that asks for the opposite of another one. */
export const opposites = {
  notEquals: 'equals',
  notContains: 'contains',
  notIn: 'in',
} as const satisfies Partial<Record<CheckedOperator, CheckedOperator>>;

/** An operator that asks for something in a value. */
export type PositiveOperator = Exclude<CheckedOperator, keyof typeof opposites>;

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

/** `exists` is written with `equals` and `notEquals`. */
export type CheckedOperator = Exclude<FilterOperator, 'exists'>;

export type FilterNode =
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly FilterNode[] }
  | {
      readonly kind: 'condition';
      readonly field: string;
      readonly operator: CheckedOperator;
      readonly value: Json;
      readonly caseInsensitive: boolean;
    };
