import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { parseDate } from './date-text.ts';
import type { ValueKind } from './field-type.ts';

/**
 * A number without loss: the nearest double, and the difference to the exact value. Only 64-bit longs and numbers in queries
 * can have a residual. Rounding is monotonic, so points compare by `approx`, then by `residual`.
 */
export interface NumberPoint {
  readonly approx: number;
  readonly residual: number;
}

export const lowest: NumberPoint = { approx: -Infinity, residual: 0 };
export const highest: NumberPoint = { approx: Infinity, residual: 0 };

const integerMin = -(2 ** 31);
const integerMax = 2 ** 31 - 1;
const longMin = -(2n ** 63n);
const longMax = 2n ** 63n - 1n;
const floatMax = 3.4028234663852886e38;
/** Longer strings are never longs. The limit keeps `BigInt` parsing cheap. */
const longCharactersMax = 40;
const longPattern = /^-?\d+$/;

/** An integer as it was sent: a JSON number, or a string of digits. It is not limited to 64 bits. */
export function parseWhole(value: Json): bigint | null {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null;
  if (typeof value !== 'string' || value.length > longCharactersMax || !longPattern.test(value)) return null;
  return BigInt(value);
}

/** A 64-bit signed integer. */
export function parseLong(value: Json): bigint | null {
  if (typeof value === 'number' && Math.abs(value) > 2 ** 63) return null;
  const whole = parseWhole(value);
  return whole === null || whole < longMin || whole > longMax ? null : whole;
}

export function pointOfWhole(whole: bigint): NumberPoint {
  const approx = Number(whole);
  return { approx, residual: Number(whole - BigInt(approx)) };
}

export function wholeOfPoint(point: NumberPoint): bigint {
  return BigInt(point.approx) + BigInt(point.residual);
}

export function comparePoints(a: NumberPoint, b: NumberPoint): number {
  if (a.approx !== b.approx) return a.approx < b.approx ? -1 : 1;
  return a.residual - b.residual;
}

/**
 * The point of a value; null if it does not fit the numeric type (docs/reference/indexes-and-queries.md "Field types").
 */
export function pointOf(kind: ValueKind, value: Json): NumberPoint | null {
  if (kind === 'long') {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return { approx: value, residual: 0 };
    const whole = parseLong(value);
    return whole === null ? null : pointOfWhole(whole);
  }
  const approx = kind === 'date' ? parseDate(value) : plainNumber(kind, value);
  return approx === null ? null : { approx, residual: 0 };
}

function plainNumber(kind: ValueKind, value: Json): number | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  if (kind === 'double') return value;
  if (kind === 'float') return Math.abs(value) <= floatMax ? value : null;
  return Number.isInteger(value) && value >= integerMin && value <= integerMax ? value : null;
}

/**
 * The point of a value in a query. Unlike that of `pointOf`, it is not limited to the range of the type, so that
 * `lessThan 1e300` works on an integer. Null if the value cannot be compared with this type.
 */
export function queryPointOf(kind: ValueKind, value: Json): NumberPoint | null {
  if (kind === 'date') return pointOf(kind, value);
  if (typeof value === 'number') return Number.isFinite(value) ? { approx: value, residual: 0 } : null;
  const whole = parseWhole(value);
  return whole === null ? null : pointOfWhole(whole);
}

const scratch = new Float64Array(1);
const scratchBits = new BigInt64Array(scratch.buffer);

/** The next larger double. */
export function nextUp(value: number): number {
  if (value === Infinity || Number.isNaN(value)) return value;
  scratch[0] = value === 0 ? 0 : value;
  scratchBits[0] = (scratchBits[0] ?? 0n) + (value >= 0 ? 1n : -1n);
  return scratch[0];
}

/** The next smaller double. */
export function nextDown(value: number): number {
  return -nextUp(-value);
}

/** A range as a closed interval; empty if `low` is above `high`. */
export interface Interval {
  readonly low: NumberPoint;
  readonly high: NumberPoint;
}

const boundNames: ReadonlySet<string> = new Set(['gt', 'gte', 'lt', 'lte']);

/**
 * The interval of a range value: an object with `gt` or `gte`, and/or `lt` or `lte`, and nothing else. A null bound counts as
 * absent. Null if the value is not a valid range (docs/reference/indexes-and-queries.md "Field types").
 */
export function intervalOf(kind: ValueKind, value: Json): Interval | null {
  if (!isJsonObject(value)) return null;
  if (!Object.keys(value).every((name) => boundNames.has(name))) return null;
  const bound = (name: string): Json => getOwn(value, name) ?? null;
  const low = boundPoint(kind, bound('gte'), bound('gt'), pointAbove);
  const high = boundPoint(kind, bound('lte'), bound('lt'), pointBelow);
  if (low === 'invalid' || high === 'invalid') return null;
  if (low === null && high === null) return null;
  return { low: low ?? lowest, high: high ?? highest };
}

function boundPoint(
  kind: ValueKind,
  closed: Json,
  open: Json,
  inward: (kind: ValueKind, point: NumberPoint) => NumberPoint,
): NumberPoint | null | 'invalid' {
  if (closed !== null && open !== null) return 'invalid';
  if (closed === null && open === null) return null;
  const point = pointOf(kind, closed ?? open);
  if (point === null) return 'invalid';
  return closed === null ? inward(kind, point) : point;
}

function pointAbove(kind: ValueKind, point: NumberPoint): NumberPoint {
  if (kind === 'long') return pointOfWhole(wholeOfPoint(point) + 1n);
  const isWhole = kind === 'integer' || kind === 'date';
  return { approx: isWhole ? Math.floor(point.approx) + 1 : nextUp(point.approx), residual: 0 };
}

function pointBelow(kind: ValueKind, point: NumberPoint): NumberPoint {
  if (kind === 'long') return pointOfWhole(wholeOfPoint(point) - 1n);
  const isWhole = kind === 'integer' || kind === 'date';
  return { approx: isWhole ? Math.ceil(point.approx) - 1 : nextDown(point.approx), residual: 0 };
}
