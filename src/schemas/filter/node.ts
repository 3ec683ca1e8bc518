import type { Json } from '../../contract/json.ts';
import { compareCodePoints } from '../../lib/code-points.ts';
import type { Evaluate, Frame } from '../language/scope.ts';
import type { PropertyPath } from '../lookup-layout.ts';
import { jsonEqual, scalarText } from '../values.ts';

/** A path in a condition: in the entity, or in the variable of an enclosing lambda. */
export interface FilterPath {
  /** Name of the lambda's variable; null for the entity, where the path starts with a field. */
  readonly variable: string | null;
  readonly steps: PropertyPath;
}

/** A value that a condition compares with. */
export interface Operand {
  /** Its index in the values of a query (`QueryValues`). */
  readonly index: number;
  /** The value of a literal; undefined for a hole. */
  readonly constant: Json | undefined;
}

/** The condition of a `$lookup`. */
export type FilterNode =
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly FilterNode[] }
  | { readonly kind: 'not'; readonly node: FilterNode }
  | {
      readonly kind: 'compare';
      readonly path: FilterPath;
      readonly operator: ComparisonName;
      readonly operand: Operand;
    }
  /** With `spread`, the only operand is a hole whose array has the values. */
  | {
      readonly kind: 'in';
      readonly path: FilterPath;
      readonly operands: readonly Operand[];
      readonly spread: boolean;
    }
  | {
      readonly kind: 'text';
      readonly function: TextFunctionName;
      readonly path: FilterPath;
      readonly operand: Operand;
    }
  | {
      readonly kind: 'any' | 'all';
      readonly path: FilterPath;
      readonly variable: string;
      readonly node: FilterNode;
    }
  /** Property match: uses the first of `paths` at which the entity has a value. */
  | {
      readonly kind: 'match';
      readonly operator: PropertyMatchName;
      readonly paths: readonly PropertyPath[];
      readonly operand: Operand;
    }
  /** A type that is only known at run time; `*` and null mean all types. */
  | { readonly kind: 'ofType'; readonly operand: Operand };

/** The values of a lookup: collected while it is compiled, and evaluated for each query. */
export class QueryValues {
  readonly #evaluate: Evaluate[] = [];

  add(evaluate: Evaluate): Operand {
    this.#evaluate.push(evaluate);
    return { index: this.#evaluate.length - 1, constant: undefined };
  }

  addConstant(constant: Json): Operand {
    return { ...this.add(() => constant), constant };
  }

  values(frame: Frame): Json[] {
    return this.#evaluate.map((evaluate) => evaluate(frame));
  }
}

/**
 * Compares a value of the entity with a value of the query. The tables of these operators:
 * docs/reference/mapping-language.md "Filters".
 */
type Relation = (value: Json, wanted: Json) => boolean;

/** `path eq value`. */
export const comparisons = {
  eq: sameJson,
  ne: (value, wanted) => !sameJson(value, wanted),
  gt: (value, wanted) => order(value, wanted) > 0,
  ge: (value, wanted) => order(value, wanted) >= 0,
  lt: (value, wanted) => order(value, wanted) < 0,
  le: (value, wanted) => order(value, wanted) <= 0,
} satisfies Record<string, Relation>;

/** `startswith(path, value)`, for strings; `contains` also for an array that has the value. */
export const textFunctions = {
  contains: (value, wanted) =>
    Array.isArray(value)
      ? value.some((item) => sameJson(item, wanted))
      : areTexts(value, wanted, (text, part) => text.includes(part)),
  startswith: (value, wanted) => areTexts(value, wanted, (text, part) => text.startsWith(part)),
  endswith: (value, wanted) => areTexts(value, wanted, (text, part) => text.endsWith(part)),
} satisfies Record<string, Relation>;

/** The operators of a property match, which compare scalars by their text. A query value without a text matches nothing. */
export const propertyMatches = {
  equals: (value, wanted) => byText(wanted, (text) => scalarText(value) === text),
  contains: (value, wanted) =>
    byText(wanted, (text) =>
      Array.isArray(value)
        ? value.some((item) => scalarText(item) === text)
        : typeof value === 'string' && value.includes(text),
    ),
} satisfies Record<string, Relation>;

type ComparisonName = keyof typeof comparisons;
type TextFunctionName = keyof typeof textFunctions;
export type PropertyMatchName = keyof typeof propertyMatches;

/** Whether `name` is a key of one of the tables above. */
export function isOperator<Name extends string>(
  table: Readonly<Record<Name, Relation>>,
  name: unknown,
): name is Name {
  return typeof name === 'string' && Object.hasOwn(table, name);
}

/** Equality without a budget, because values in index entries are small. */
export function sameJson(a: Json, b: Json): boolean {
  return jsonEqual(a, b, () => {});
}

/** Order of two values of the same type; otherwise NaN, for which no comparison is true. */
function order(a: Json, b: Json): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return Number.NaN;
}

function areTexts(value: Json, wanted: Json, holds: (value: string, wanted: string) => boolean): boolean {
  return typeof value === 'string' && typeof wanted === 'string' && holds(value, wanted);
}

function byText(wanted: Json, holds: (wanted: string) => boolean): boolean {
  const text = scalarText(wanted);
  return text !== null && holds(text);
}
