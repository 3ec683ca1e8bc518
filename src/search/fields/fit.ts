import { isJsonObject, type Json } from '../../contract/json.ts';
import { chain, type Resumable, repeat, workBudget } from '../../lib/cooperative-yield.ts';
import { type FieldType, traitsOf, type ValueKind } from './field-type.ts';
import { geoPointOf } from './geo-point.ts';
import { intervalOf, pointOf } from './number-point.ts';

/**
 * `value` is the same object if all of it fits. `leftOut` is the number of items of a list that did not fit and are missing in
 * `value`. Nulls are missing, too, but not counted.
 */
export type Fit =
  | { readonly ok: true; readonly value: Json; readonly leftOut: number }
  | { readonly ok: false };

const misfit: Fit = { ok: false };

/** Items of a list to test in one step. */
const itemsPerGo = 1024;
/** Approximate cost of testing an item, in units of the work budget; dates cost most. */
const unitsPerItem = 20;

/**
 * Checks whether a value fits the type of its field, and returns the value to store, as it was sent
 * (docs/reference/indexes-and-queries.md "Field types"). Long lists are checked in steps. The caller handles null and absent
 * values.
 *
 * - keyword, text: a string. A number or boolean is not a string.
 * - integer: a 32-bit signed integer. float, double: a number (float: in its range). A numeric string is not a number.
 * - long: a 64-bit signed integer, as a number or as a string of digits.
 * - date: an ISO 8601 date or date-time, or epoch milliseconds.
 * - geoPoint: `{lat, lon}` or `[lon, lat]`, in degrees within their range.
 * - lists: an array. Items that do not fit are left out. If no item fits, the array does not fit, unless it is empty.
 * - ranges: an object with `gt|gte` and/or `lt|lte` and nothing else. object: an object or an array.
 */
export function fitField(type: FieldType, value: Json): Resumable<Fit> {
  const { shape, kind } = traitsOf(type);
  if (shape === 'object') return isJsonObject(value) || Array.isArray(value) ? whole(value) : misfit;
  if (shape === 'range') return intervalOf(kind, value) === null ? misfit : whole(value);
  if (shape === 'list') return Array.isArray(value) ? fitList(kind, value) : misfit;
  return fitsScalar(kind, value) ? whole(value) : misfit;
}

/**
 * Like `fitField`, for auto-indexed types. A date field takes no numbers, because it may become text, which takes none: an item
 * must not depend on when its field became text.
 */
export function fitAutoField(type: FieldType, value: Json): Resumable<Fit> {
  if (type === 'date' && typeof value === 'number') return misfit;
  if (type !== 'date[]' || !Array.isArray(value) || !value.some(isNumber)) return fitField(type, value);
  const others = value.filter((item) => !isNumber(item));
  if (others.every((item) => item === null)) return misfit;
  return chain(fitField(type, others), (fit) =>
    fit.ok ? { ...fit, leftOut: fit.leftOut + value.length - others.length } : fit,
  );
}

function isNumber(value: Json): value is number {
  return typeof value === 'number';
}

function whole(value: Json): Fit {
  return { ok: true, value, leftOut: 0 };
}

function fitList(kind: ValueKind, items: Json[]): Resumable<Fit> {
  const fitting: Json[] = [];
  let nulls = 0;
  const look = (go: number): boolean => {
    const end = Math.min(items.length, (go + 1) * itemsPerGo);
    for (let at = go * itemsPerGo; at < end; at += 1) {
      const item = items[at] ?? null;
      if (item === null) nulls += 1;
      else if (fitsScalar(kind, item)) fitting.push(item);
    }
    workBudget.units += itemsPerGo * unitsPerItem;
    return end < items.length;
  };
  return chain(repeat(look), () => {
    if (fitting.length === 0 && nulls < items.length) return misfit;
    const value = fitting.length === items.length ? items : fitting;
    return { ok: true, value, leftOut: items.length - nulls - fitting.length };
  });
}

function fitsScalar(kind: ValueKind, value: Json): boolean {
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'boolean') return typeof value === 'boolean';
  if (kind === 'geo') return geoPointOf(value) !== null;
  return pointOf(kind, value) !== null;
}
