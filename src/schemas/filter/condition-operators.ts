/**
 * The operators of a lookup's condition (docs/reference/mapping-language.md "Filters"): each is one line of these tables.
 */
import type { Json } from '../../contract/json.ts';
import { compareCodePoints } from '../../lib/code-points.ts';
import { jsonEqual, scalarText } from '../values.ts';

/** Whether a value of the entity and a value of the query are in a relation. */
type Relation = (value: Json, wanted: Json) => boolean;

/** `path eq value` */
export const comparisons = {
  eq: sameJson,
  ne: (value, wanted) => !sameJson(value, wanted),
  gt: (value, wanted) => order(value, wanted) > 0,
  ge: (value, wanted) => order(value, wanted) >= 0,
  lt: (value, wanted) => order(value, wanted) < 0,
  le: (value, wanted) => order(value, wanted) <= 0,
} satisfies Record<string, Relation>;

/** `startswith(path, value)`; they hold for texts, and `contains` also for an array that has the value. */
export const textFunctions = {
  contains: (value, wanted) =>
    Array.isArray(value)
      ? value.some((item) => sameJson(item, wanted))
      : areTexts(value, wanted, (text, part) => text.includes(part)),
  startswith: (value, wanted) => areTexts(value, wanted, (text, part) => text.startsWith(part)),
  endswith: (value, wanted) => areTexts(value, wanted, (text, part) => text.endsWith(part)),
} satisfies Record<string, Relation>;

/** The operators of a property match. They compare scalars by their text; a value to match without one matches nothing. */
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

/** Equality without a budget: values in an index entry are small. */
export function sameJson(a: Json, b: Json): boolean {
  return jsonEqual(a, b, () => {});
}

/** Order of two values of one type. For all others it is NaN, for which no comparison holds. */
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
