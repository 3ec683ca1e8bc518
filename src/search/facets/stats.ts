/** Statistics of a facet (docs/reference/indexes-and-queries.md "Statistics, ranges and intervals"). */

import { isoOf } from '../fields/date-text.ts';
import type { ValueKind } from '../fields/field-type.ts';
import { comparePoints, highest, lowest, type NumberPoint, wholeOfPoint } from '../fields/number-point.ts';
import type { StatsPart } from '../shard-answer.ts';
import { ExactSum, nearestDouble, wholeOfUnits } from './exact-sum.ts';
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
