import type { Json } from '../contract/json.ts';
import { namesOf } from '../contract/large-json/parse-in-parts.ts';
import { EntityValue } from './build/entity-value.ts';

/**
 * The member of an object, or undefined. On an entity, `p` is short for `properties` (docs/reference/mapping-language.md
 * "Expressions").
 */
export function ownMember(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  return name === 'p' && value instanceof EntityValue ? value.properties : undefined;
}

/** The member of an object; null if it is absent or `value` is not an object. */
export function member(value: Json, name: string): Json {
  return ownMember(value, name) ?? null;
}

/** The element of an array; null if it is absent or `value` is not an array. */
export function element(value: Json, index: number): Json {
  return Array.isArray(value) ? (value[index] ?? null) : null;
}

/**
 * The value as a list for an array to map: null is the empty list, and a value that is not an array is the only element
 * (docs/reference/mapping-language.md "array").
 */
export function listOf(value: Json): Json[] {
  if (value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/**
 * The value as text in a string (docs/reference/mapping-language.md "Values and text"): null stays null, numbers take their
 * shortest form, arrays and objects become JSON.
 */
export function valueText(value: Json): string | null {
  if (typeof value === 'string') return value;
  if (value === null) return null;
  // String(-0) is already "0"; only numbers that JSON cannot represent need care.
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  return JSON.stringify(value);
}

/** The text by which lookups compare scalars: 9 is `9`. Null for null, arrays and objects. */
export function scalarText(value: Json): string | null {
  return typeof value === 'object' ? null : valueText(value);
}

/**
 * Deep equality without type coercion; the order of an object's members does not matter. Undefined only equals undefined.
 * @param spend receives the cost, about one step for each compared pair; may throw to abort
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
  // Listing the names costs time for every name, even if the counts differ.
  spend(names.length + count);
  if (names.length !== count) return false;
  return names.every((name) => Object.hasOwn(b, name) && jsonEqual(a[name], b[name], spend));
}

/** Extra steps for comparing two strings: a long string may be compared once for each element of an entity. */
export function textSteps(a: Json | undefined, b: Json | undefined): number {
  return typeof a === 'string' && typeof b === 'string' ? Math.min(a.length, b.length) >> 4 : 0;
}
