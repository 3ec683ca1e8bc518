/** Tables of the operators of lookup conditions (docs/reference/mapping-language.md "Filters"). */
import type { Json } from '../../contract/json.ts';
import { compareCodePoints } from '../../lib/code-points.ts';
import { jsonEqual, scalarText } from '../values.ts';

/** Compares a value of the entity with a value of the query. */
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

export type ComparisonName = keyof typeof comparisons;
export type TextFunctionName = keyof typeof textFunctions;
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
