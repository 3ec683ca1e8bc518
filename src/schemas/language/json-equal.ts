import type { Json } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';

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
