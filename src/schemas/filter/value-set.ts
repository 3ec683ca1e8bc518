import type { Json } from '../../contract/json.ts';
import { sameJson } from './condition-operators.ts';

/** Values that are looked up by type and content: 9 is not `'9'`. */
export class ValueSet {
  readonly #scalars: ReadonlySet<Json>;
  readonly #others: readonly Json[];

  constructor(values: readonly Json[]) {
    this.#scalars = new Set(values.filter(isScalarOrNull));
    this.#others = values.filter((value) => !isScalarOrNull(value));
  }

  has(value: Json): boolean {
    if (isScalarOrNull(value)) return this.#scalars.has(value);
    return this.#others.some((other) => sameJson(other, value));
  }
}

function isScalarOrNull(value: Json): boolean {
  return typeof value !== 'object' || value === null;
}

/** The values that `in` compares with. @param indexes of its operands among the query's values */
export function inValues(values: readonly Json[], indexes: readonly number[], spread: boolean): Json[] {
  const given = indexes.map((index) => values[index] ?? null);
  return spread ? given.flatMap((value) => (Array.isArray(value) ? value : [value])) : given;
}
