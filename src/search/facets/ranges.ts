/** Groups of a facet by ranges (docs/reference/indexes-and-queries.md "Statistics, ranges and intervals"). */

import { workBudget } from '../../lib/cooperative-yield.ts';
import type { FacetRange } from '../checked-query.ts';
import type { ValueKind } from '../fields/field-type.ts';
import { comparePoints, type NumberPoint, queryPointOf } from '../fields/number-point.ts';
import type { RangeGroup } from '../shard-answer.ts';
import type { NumberTally } from './number-tally.ts';

/** The slots that a range covers: from `low`, below `high`. */
interface SlotRange {
  readonly low: number;
  readonly high: number;
}

/**
 * Counts docs by range. The ends of all ranges divide the numbers into slots; slot 0 is below the first end. So each item needs
 * only one search, independent of the number of ranges.
 */
export class RangeTally implements NumberTally {
  readonly #ends: readonly NumberPoint[];
  readonly #ranges: readonly SlotRange[];
  /** Docs whose items are all in one slot, by slot. */
  readonly #inSlot: Float64Array;
  /** Docs with items in several slots, by range. */
  readonly #ofMany: Float64Array;
  /** The slots of the current doc, ascending and distinct. */
  #slots: number[] = [];

  constructor(kind: ValueKind, ranges: readonly FacetRange[]) {
    const bounds = ranges.map(({ from, to }) => ({ from: pointOf(kind, from), to: pointOf(kind, to) }));
    const all = bounds.flatMap(({ from, to }) => [from, to]).filter((point) => point !== null);
    all.sort(comparePoints);
    this.#ends = all.filter((point, at) => at === 0 || comparePoints(point, all[at - 1] ?? point) !== 0);
    this.#ranges = bounds.map(({ from, to }) => ({
      low: from === null ? 0 : this.#slotOf(from.approx, from.residual),
      high: to === null ? this.#ends.length + 1 : this.#slotOf(to.approx, to.residual),
    }));
    this.#inSlot = new Float64Array(this.#ends.length + 1);
    this.#ofMany = new Float64Array(ranges.length);
  }

  add(approx: number, residual: number): void {
    const slot = this.#slotOf(approx, residual);
    if (this.#slots.at(-1) !== slot) this.#slots.push(slot);
  }

  endDoc(): void {
    const slots = this.#slots;
    const [first = 0] = slots;
    if (slots.length === 1) this.#inSlot[first] = (this.#inSlot[first] ?? 0) + 1;
    else this.#countMany(slots);
    this.#slots = [];
  }

  /** Number of docs in each range, in the order of the ranges. */
  get counts(): number[] {
    return this.#ranges.map(({ low, high }, at) => {
      let count = this.#ofMany[at] ?? 0;
      for (let slot = low; slot < high; slot += 1) count += this.#inSlot[slot] ?? 0;
      return count;
    });
  }

  #countMany(slots: readonly number[]): void {
    for (const [at, { low, high }] of this.#ranges.entries()) {
      workBudget.units += slots.length;
      if (slots.some((slot) => slot >= low && slot < high)) this.#ofMany[at] = (this.#ofMany[at] ?? 0) + 1;
    }
  }

  /** The number of ends that are not above the number. */
  #slotOf(approx: number, residual: number): number {
    let low = 0;
    let high = this.#ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const end = this.#ends[middle];
      if (end === undefined) break;
      if (end.approx < approx || (end.approx === approx && end.residual <= residual)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function pointOf(kind: ValueKind, end: FacetRange['from']): NumberPoint | null {
  return end === null ? null : queryPointOf(kind, end);
}

/** Merges the groups of all shards. @param parts counts in the order of the ranges */
export function rangeGroups(
  ranges: readonly FacetRange[],
  parts: readonly (readonly number[])[],
): RangeGroup[] {
  return ranges.map(({ from, to, name }, at) => ({
    value: name ?? `${from ?? '*'}-${to ?? '*'}`,
    from,
    to,
    count: parts.reduce((sum, counts) => sum + (counts[at] ?? 0), 0),
  }));
}
