/** Statistics of a facet (docs/reference/indexes-and-queries.md "Statistics, ranges and intervals"). */

import { isoOf } from '../fields/date-text.ts';
import type { ValueKind } from '../fields/field-type.ts';
import { comparePoints, highest, lowest, type NumberPoint, wholeOfPoint } from '../fields/number-point.ts';
import type { StatsPart } from '../shard-answer.ts';
import type { NumberTally } from './number-tally.ts';

/** Dates, and longs that a double cannot represent, are strings. `sum` is absent for dates. */
export interface FacetStats {
  readonly min: number | string | null;
  readonly max: number | string | null;
  readonly sum?: number | string | null;
  readonly mean: number | string | null;
  readonly count: number;
}

export class StatsTally implements NumberTally {
  readonly #sum = new ExactSum();
  #count = 0;
  #min = highest;
  #max = lowest;

  add(approx: number, residual: number): void {
    this.#count += 1;
    this.#sum.add(approx);
    if (residual !== 0) this.#sum.add(residual);
    const { approx: least, residual: leastResidual } = this.#min;
    if (approx < least || (approx === least && residual < leastResidual)) this.#min = { approx, residual };
    const { approx: most, residual: mostResidual } = this.#max;
    if (approx > most || (approx === most && residual > mostResidual)) this.#max = { approx, residual };
  }

  endDoc(): void {
    // Statistics count values, not docs.
  }

  get part(): StatsPart {
    const isEmpty = this.#count === 0;
    return {
      count: this.#count,
      min: isEmpty ? null : this.#min,
      max: isEmpty ? null : this.#max,
      sumUnits: this.#sum.units.toString(),
    };
  }
}

/** Merges the statistics of all shards, independent of their order. */
export function mergedStats(kind: ValueKind, parts: readonly StatsPart[]): FacetStats {
  const isDate = kind === 'date';
  let count = 0;
  let units = 0n;
  let min: NumberPoint | null = null;
  let max: NumberPoint | null = null;
  for (const part of parts) {
    count += part.count;
    units += BigInt(part.sumUnits);
    if (part.min !== null && (min === null || comparePoints(part.min, min) < 0)) min = part.min;
    if (part.max !== null && (max === null || comparePoints(part.max, max) > 0)) max = part.max;
  }
  if (min === null || max === null) {
    return { min: null, max: null, ...(isDate ? {} : { sum: null }), mean: null, count };
  }
  const mean = nearestDouble(units, BigInt(count));
  if (isDate) return { min: isoOf(min.approx), max: isoOf(max.approx), mean: isoOf(mean), count };
  return { min: numberOf(kind, min), max: numberOf(kind, max), sum: sumOf(kind, units), mean, count };
}

function numberOf(kind: ValueKind, point: NumberPoint): number | string {
  return kind === 'long' ? shownWhole(wholeOfPoint(point)) : point.approx;
}

/** Null for a sum that is too large for a double and thus for JSON. */
function sumOf(kind: ValueKind, units: bigint): number | string | null {
  if (kind === 'long') return shownWhole(wholeOfUnits(units));
  const sum = nearestDouble(units, 1n);
  return Number.isFinite(sum) ? sum : null;
}

function shownWhole(whole: bigint): number | string {
  const approx = Number(whole);
  return Number.isSafeInteger(approx) ? approx : whole.toString();
}

const chunkBits = 32;
const chunkRadix = 2 ** chunkBits;
/** The 53-bit mantissa of a double starts at bit 0 to 2045 and spans up to three chunks. */
const chunkCount = 66;
/** Each addition adds less than 2^32 to a chunk, so after this many a chunk is still an exact integer below 2^53. */
const additionsMax = 2 ** 20;

/**
 * Adds doubles without rounding, so the result does not depend on their order. The sum is an integer multiple of the
 * smallest double, 2^-1074. It is stored in chunks of 32 bits with delayed carries (R. Neal, "Fast exact summation using small
 * and large superaccumulators", 2015).
 */
export class ExactSum {
  readonly #chunks = new Float64Array(chunkCount);
  readonly #double = new Float64Array(1);
  readonly #halves = new Uint32Array(this.#double.buffer);
  #additions = 0;
  #carried = 0n;

  /** @param value finite */
  add(value: number): void {
    if (this.#additions === additionsMax) this.#carry();
    this.#additions += 1;
    this.#double[0] = value;
    const low = this.#halves[0] ?? 0;
    const head = this.#halves[1] ?? 0;
    const exponent = (head >>> 20) & 0x7ff;
    const high = (head & 0xfffff) + (exponent === 0 ? 0 : 0x100000);
    const bit = exponent === 0 ? 0 : exponent - 1;
    const at = bit >>> 5;
    const scale = 2 ** (bit & 31);
    const sign = head >>> 31 === 0 ? 1 : -1;
    // Each product is below 2^63 and has at most 32 significant bits, so it and its parts are exact.
    const lowest = low * scale;
    const highest = high * scale;
    const carry = Math.floor(lowest / chunkRadix);
    const middle = highest % chunkRadix;
    this.#put(at, sign * (lowest - carry * chunkRadix));
    // The bits of the carry are below those of the product, so the two never overlap.
    this.#put(at + 1, sign * (carry + middle));
    this.#put(at + 2, (sign * (highest - middle)) / chunkRadix);
  }

  /** The sum in units of 2^-1074. */
  get units(): bigint {
    this.#carry();
    return this.#carried;
  }

  #put(at: number, value: number): void {
    this.#chunks[at] = (this.#chunks[at] ?? 0) + value;
  }

  #carry(): void {
    if (this.#additions === 0) return;
    let units = 0n;
    for (let at = chunkCount - 1; at >= 0; at -= 1) {
      units = (units << BigInt(chunkBits)) + BigInt(this.#chunks[at] ?? 0);
    }
    this.#carried += units;
    this.#chunks.fill(0);
    this.#additions = 0;
  }
}

/** The exponent of the unit of sums: a unit is 2^-1074. */
const unitExponent = -1074;
const mantissaBits = 53;

/** Converts units of 2^-1074 to an integer, rounding down. */
export function wholeOfUnits(units: bigint): bigint {
  return units >> BigInt(-unitExponent);
}

/**
 * The double nearest to `units / divisor`, in units of 2^-1074. It is rounded once, half to even, and is infinite beyond
 * the largest double.
 * @param divisor at least 1
 */
export function nearestDouble(units: bigint, divisor: bigint): number {
  const absolute = units < 0n ? -units : units;
  const excess = Math.max(0, bitLength(absolute / divisor) - mantissaBits);
  const mantissa = Number(roundedQuotient(absolute, divisor << BigInt(excess)));
  const value = mantissa * 2 ** (unitExponent + excess);
  return units < 0n ? -value : value;
}

function bitLength(value: bigint): number {
  const digits = value.toString(16);
  return value === 0n
    ? 0
    : (digits.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(digits.slice(0, 1), 16)));
}

function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = 2n * (dividend - quotient * divisor);
  if (twice > divisor || (twice === divisor && (quotient & 1n) === 1n)) return quotient + 1n;
  return quotient;
}
