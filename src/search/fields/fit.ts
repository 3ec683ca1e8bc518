import type { Json } from '../../contract/json.ts';
import { isJsonObject } from '../../contract/json.ts';
import { geoPointOf } from '../columns/geo-point.ts';
import { hasPoint } from '../columns/number-point.ts';
import { intervalOf } from '../columns/range-value.ts';
import type { FieldType } from './field-type.ts';
import { traitsOf, type ValueKind } from './field-type.ts';

/** `leftOut` is the number of items of a list that did not fit and are missing in `value`. Nulls are not counted. */
export type Fit =
  | { readonly ok: true; readonly value: Json; readonly leftOut: number }
  | { readonly ok: false };

const misfit: Fit = { ok: false };

/**
 * Tells whether a value fits the type of its field, and gives the value to store, as it was sent
 * (docs/reference/indexes-and-queries.md "Field types"). The caller handles null and absent values.
 *
 * - keyword, text: text. A number or boolean is no text.
 * - integer: whole, 32 bits signed. float, double: a number (float: of its range). Numeric text is no number.
 * - long: whole, 64 bits signed, as a number or as text of digits.
 * - date: ISO 8601 date or date-time text, or epoch milliseconds.
 * - geoPoint: `{lat, lon}` or `[lon, lat]`, in degrees within their range.
 * - lists: an array; items that do not fit are left out; an array of which no item fits does not fit, an empty one does.
 * - ranges: an object with `gt|gte` and/or `lt|lte` and nothing else. object: an object or an array.
 */
export function fitField(type: FieldType, value: Json): Fit {
  const { shape, kind } = traitsOf(type);
  if (shape === 'object') return isJsonObject(value) || Array.isArray(value) ? whole(value) : misfit;
  if (shape === 'range') return intervalOf(kind, value) === null ? misfit : whole(value);
  if (shape === 'list') return Array.isArray(value) ? fitList(kind, value) : misfit;
  return fitsScalar(kind, value) ? whole(value) : misfit;
}

/**
 * True when `fitField` would take the value as it is; every item of a list must fit, and none may be null. It allocates
 * nothing.
 */
export function fitsAsItIs(type: FieldType, value: Json): boolean {
  const { shape, kind } = traitsOf(type);
  if (shape === 'list') return Array.isArray(value) && value.every((item) => fitsScalar(kind, item));
  return shape === 'scalar' ? fitsScalar(kind, value) : fitField(type, value).ok;
}

function whole(value: Json): Fit {
  return { ok: true, value, leftOut: 0 };
}

function fitList(kind: ValueKind, items: readonly Json[]): Fit {
  const fitting = items.filter((item) => fitsScalar(kind, item));
  if (fitting.length === 0 && items.some((item) => item !== null)) return misfit;
  const nulls = items.reduce<number>((count, item) => count + (item === null ? 1 : 0), 0);
  return { ok: true, value: fitting, leftOut: items.length - nulls - fitting.length };
}

function fitsScalar(kind: ValueKind, value: Json): boolean {
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'boolean') return typeof value === 'boolean';
  if (kind === 'geo') return geoPointOf(value) !== null;
  return hasPoint(kind, value);
}
