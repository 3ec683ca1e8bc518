/** A naive implementation of facets; see `naive.ts`. */
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { asNumber, type Num } from './naive.ts';

export interface NaiveFacet {
  readonly field: string;
  readonly name: string;
  readonly groups: readonly Json[];
  readonly isValid: boolean;
  readonly stats?: Json;
}

/**
 * @param rows the items of each row's field
 * @param byValue all groups by value, in order
 */
export function naiveFacet(
  facet: JsonObject,
  type: string,
  rows: readonly (readonly Json[])[],
  byValue: () => Json[],
): NaiveFacet {
  const field = facet.field as string;
  const name = (facet.name ?? field) as string;
  const isNumbers = /^(integer|long|float|double|date)(\[\])?$/.test(type);
  const asked = Boolean(facet.stats) || Boolean(facet.ranges) || Boolean(facet.interval);
  const isFit = !asked || (isNumbers && (!facet.interval || type.startsWith('date')));
  if (/^object|^geoPoint|Range$/.test(type) || !isFit) return { field, name, groups: [], isValid: false };
  const numbers = rows.map((items) =>
    items.map((item) => asNumber(type, item)).filter((one) => one !== null),
  );
  const stats = facet.stats ? { stats: statsOf(type, numbers.flat()) } : {};
  return { field, name, groups: groupsOf(facet, type, numbers, byValue), isValid: true, ...stats };
}

function groupsOf(
  facet: JsonObject,
  type: string,
  rows: readonly (readonly Num[])[],
  byValue: () => Json[],
): Json[] {
  if (facet.ranges) {
    return (facet.ranges as JsonObject[]).map((range) => rangeGroup(range, type, rows));
  }
  if (facet.interval) return intervalGroups(facet.interval as string, rows as number[][]);
  return byValue().slice(0, (facet.size ?? 10) as number);
}

function rangeGroup(range: JsonObject, type: string, rows: readonly (readonly Num[])[]): Json {
  const { from = null, to = null, name = null } = range;
  const [low, high] = [asNumber(type, from), asNumber(type, to)];
  const isIn = (one: Num) => (low === null || one >= low) && (high === null || one < high);
  const value = name ?? `${from ?? '*'}-${to ?? '*'}`;
  return { value, from, to, count: rows.filter((items) => items.some(isIn)).length };
}

function intervalGroups(interval: string, rows: readonly (readonly number[])[]): Json[] {
  const counts = new Map<string, number>();
  for (const items of rows) {
    for (const start of new Set(items.map((item) => startOf(interval, item)))) {
      counts.set(start, (counts.get(start) ?? 0) + 1);
    }
  }
  const groups = [...counts].map(([value, count]) => ({ value, count }));
  return groups.sort((a, b) => (a.value < b.value ? -1 : 1)).slice(-1000);
}

/** Goes back day by day until the interval begins. */
function startOf(interval: string, epochMs: number): string {
  const day = new Date(Math.floor(epochMs));
  day.setUTCHours(0, 0, 0, 0);
  const begins = (): boolean => {
    if (interval === 'week') return day.getUTCDay() === 1;
    if (interval === 'day') return true;
    return day.getUTCDate() === 1 && (interval === 'month' || day.getUTCMonth() === 0);
  };
  while (!begins()) day.setTime(day.getTime() - 86_400_000);
  return day.toISOString();
}

// Statistics, in exact fractions of integers.

const unit = 2n ** 1074n;

/** A double in units of 2^-1074, by definition. */
export function unitsOf(value: Num): bigint {
  if (typeof value === 'bigint') return value * unit;
  let [mantissa, exponent] = [value, 0];
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent -= 1;
  }
  return BigInt(mantissa) << BigInt(1074 + exponent);
}

function statsOf(type: string, items: readonly Num[]): Json {
  const isDate = type.startsWith('date');
  const count = items.length;
  if (count === 0) return { min: null, max: null, ...(isDate ? {} : { sum: null }), mean: null, count };
  const inOrder = [...items].sort((a, b) => (a < b ? -1 : Number(a > b)));
  const units = items.reduce<bigint>((sum, item) => sum + unitsOf(item), 0n);
  const [min = 0, max = 0] = [inOrder[0], inOrder.at(-1)];
  const mean = nearest(units, BigInt(count));
  if (isDate) return { min: iso(min), max: iso(max), mean: iso(mean), count };
  const sum = type.startsWith('long') ? shown(units / unit) : nearest(units, 1n);
  return { min: shown(min), max: shown(max), sum, mean, count };
}

function iso(epochMs: Num): string {
  return new Date(Math.floor(Number(epochMs))).toISOString();
}

function shown(value: Num): Json {
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value + 0;
  const whole = BigInt(value);
  const isSafe = whole <= BigInt(Number.MAX_SAFE_INTEGER) && whole >= BigInt(Number.MIN_SAFE_INTEGER);
  return isSafe ? Number(whole) : String(whole);
}

/** Finds the double nearest to `units / count` among the neighbors of an estimate. */
function nearest(units: bigint, count: bigint): number {
  let best = Number(units / (count * 2n ** 1000n)) * 2 ** -74;
  const farOf = (value: number) => {
    const far = unitsOf(value) * count - units;
    return far < 0n ? -far : far;
  };
  for (;;) {
    const step = Math.max(Math.abs(best) * 2 ** -53, 5e-324);
    const nearer = [best - step, best + step, best - 2 * step, best + 2 * step].find(
      (other) => farOf(other) < farOf(best),
    );
    if (nearer === undefined) return best + 0;
    best = nearer;
  }
}
