import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import type { ValueKind } from './field-type.ts';
import { type NumberPoint, nextDown, nextUp, pointOf, pointOfWhole, wholeOfPoint } from './number-point.ts';

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
  return {
    low: low ?? { approx: -Infinity, residual: 0 },
    high: high ?? { approx: Infinity, residual: 0 },
  };
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
