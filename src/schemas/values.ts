import type { Json } from '../contract/json.ts';
import { namesOf } from '../contract/large-json/parse-in-parts.ts';
import { EntityValue } from './build/entity-value.ts';

/**
 * The member of an object, or undefined; of an entity `p` is `properties`
 * (docs/reference/mapping-language.md "Expressions").
 */
export function ownMember(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  return name === 'p' && value instanceof EntityValue ? value.properties : undefined;
}

/** The member of an object; null where there is none, whatever `value` is. */
export function member(value: Json, name: string): Json {
  return ownMember(value, name) ?? null;
}

/** The element of an array; null where there is none, whatever `value` is. */
export function element(value: Json, index: number): Json {
  return Array.isArray(value) ? (value[index] ?? null) : null;
}

/**
 * A value as the list that an array maps: null is nothing, what is not an array is the only element
 * (docs/reference/mapping-language.md "array").
 */
export function listOf(value: Json): Json[] {
  if (value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/**
 * A value's text in a string (docs/reference/mapping-language.md "Values and text"): null stays null, numbers shortest,
 * arrays and objects as JSON.
 */
export function valueText(value: Json): string | null {
  if (typeof value === 'string') return value;
  if (value === null) return null;
  // String(-0) is already "0"; only a number that JSON cannot write is left to treat.
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  return JSON.stringify(value);
}

/** The text by which lookups compare scalars: 9 is `9`. Null for null, arrays and objects. */
export function scalarText(value: Json): string | null {
  return typeof value === 'object' ? null : valueText(value);
}

/**
 * Deep and typed equality; the order of an object's members does not matter. Undefined equals undefined alone.
 * @param spend receives the work, about one step for each pair that is compared; it may throw to stop
 */
export function jsonEqual(a: Json | undefined, b: Json | undefined, spend: (steps: number) => void): boolean {
  spend(1 + textSteps(a, b));
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => jsonEqual(item, b[index], spend));
  }
  if (Array.isArray(b)) return false;
  const names = namesOf(a);
  const count = namesOf(b).length;
  // Listing the names takes as long as there are names, even where their numbers differ.
  spend(names.length + count);
  if (names.length !== count) return false;
  return names.every((name) => Object.hasOwn(b, name) && jsonEqual(a[name], b[name], spend));
}

/** Steps that comparing two texts adds: long ones of an entity may be compared once for each of its elements. */
export function textSteps(a: Json | undefined, b: Json | undefined): number {
  return typeof a === 'string' && typeof b === 'string' ? Math.min(a.length, b.length) >> 4 : 0;
}
