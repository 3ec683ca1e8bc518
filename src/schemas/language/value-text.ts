import type { Json } from '../../contract/json.ts';

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
