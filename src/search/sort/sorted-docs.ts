/**
 * Docs sorted by a column's numbers. Sorted when that pays off, corrected for changed docs, and discarded after many changes.
 */
import { itemsPerStep, type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { sorted } from '../../lib/slices/merge-sort.ts';
import { current } from '../phase.ts';

/**
 * Changed docs are tested individually. The order is discarded if there are more than this many and more than this share of
 * all.
 */
const movedDocsMin = 256;
const movedShare = 32;

/** A range of numbers from `low` to `high`, inclusive. */
export interface Stretch {
  readonly low: number;
  readonly high: number;
}

/** Which docs of a range are requested. */
export interface Walk {
  readonly isDescending: boolean;
  readonly limit: number;
  /** Only docs with this number or after it; those with exactly it do not count towards the limit; null: all. */
  readonly after: number | null;
}

/** The first docs of a range, unordered. */
export interface FirstDocs {
  /** Docs within the limit, all others with the same number as the last of them, and possibly more. */
  readonly docs: Int32Array;
  /** True if the limit was not reached. */
  readonly isAll: boolean;
}

/**
 * The docs of a column sorted by their numbers at one time, and the docs that have changed since. The numbers are those of the
 * column (`values`, by doc). Binary searches find the bounds of a range, so its size is a difference.
 */
export class SortedDocs {
  readonly #docs: Int32Array;
  /** Changed docs, with the numbers by which they were sorted; NaN for those not in the order. */
  readonly #moved = new Map<number, number>();

  private constructor(docs: Int32Array) {
    this.#docs = docs;
  }

  /** @param values NaN for docs without a number */
  static *of(values: Float64Array): Steps<SortedDocs> {
    const docs: number[] = [];
    for (let doc = 0; doc < values.length; doc += 1) {
      if (!Number.isNaN(values[doc])) docs.push(doc);
      workBudget.units += 1;
      if (workBudget.isOver()) yield;
    }
    const inOrder = yield* sorted(docs, (a, b) => (values[a] ?? 0) - (values[b] ?? 0));
    return new SortedDocs(new Int32Array(inOrder));
  }

  get bytes(): number {
    return this.#docs.byteLength;
  }

  /** True if so many docs have changed that a new order is due. */
  get isWorn(): boolean {
    return this.#moved.size > Math.max(movedDocsMin, this.#docs.length / movedShare);
  }

  /** Records that a doc's number changes. @param before NaN for none */
  move(doc: number, before: number): void {
    if (!this.#moved.has(doc)) this.#moved.set(doc, before);
  }

  /** Number of docs in the range. */
  count(values: Float64Array, { low, high }: Stretch): number {
    let count = Math.max(0, this.#placeOf(values, high, true) - this.#placeOf(values, low, false));
    for (const [doc, before] of this.#moved) {
      const now = values[doc] ?? Number.NaN;
      if (before >= low && before <= high) count -= 1;
      if (now >= low && now <= high) count += 1;
    }
    workBudget.units += this.#moved.size;
    return count;
  }

  /** The first docs of a range in a direction. */
  *first(values: Float64Array, { low, high }: Stretch, walk: Walk): Steps<FirstDocs> {
    const { isDescending, after } = walk;
    const from = isDescending || after === null ? low : Math.max(low, after);
    const to = !isDescending || after === null ? high : Math.min(high, after);
    const range = { from: this.#placeOf(values, from, false), to: this.#placeOf(values, to, true) };
    const found = { docs: [] as number[], counted: 0, last: Number.NaN, walked: 0, isDone: false };
    while (!found.isDone && range.from + found.walked < range.to) {
      this.#walkOn(values, range, walk, found);
      if (workBudget.isOver()) yield;
    }
    for (const doc of this.#moved.keys()) {
      const now = values[doc] ?? Number.NaN;
      if (now >= from && now <= to) found.docs.push(doc);
    }
    return { docs: Int32Array.from(found.docs), isAll: !found.isDone };
  }

  /** A plain function, because loops in generators are slow. */
  #walkOn(
    values: Float64Array,
    { from, to }: { readonly from: number; readonly to: number },
    { isDescending, limit, after }: Walk,
    found: { docs: number[]; counted: number; last: number; walked: number; isDone: boolean },
  ): void {
    const end = Math.min(to - from, found.walked + itemsPerStep);
    const walkedBefore = found.walked;
    for (; found.walked < end; found.walked += 1) {
      const doc = this.#docs[isDescending ? to - 1 - found.walked : from + found.walked] ?? 0;
      if (this.#moved.has(doc)) continue;
      const value = values[doc] ?? Number.NaN;
      if (found.counted >= limit && value !== found.last) {
        found.isDone = true;
        break;
      }
      found.docs.push(doc);
      found.last = value;
      if (value !== after) found.counted += 1;
    }
    workBudget.units += found.walked - walkedBefore;
  }

  /** Number of sorted docs with a number below `number`, or not above it if `isIncluded`. */
  #placeOf(values: Float64Array, number: number, isIncluded: boolean): number {
    let low = 0;
    let high = this.#docs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const doc = this.#docs[middle] ?? 0;
      const value = this.#moved.get(doc) ?? values[doc] ?? Number.NaN;
      if (value < number || (isIncluded && value === number)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Sorting the docs costs about as much as this many scans. */
export const scansPerSort = 64;

/**
 * Caches the sorted docs of a column. They are sorted once scans have cost as much, and discarded after many changes. So an
 * import, which changes many docs, does not cause sorting for each query in between.
 */
export class KeptOrder {
  #docs: SortedDocs | null = null;
  /** Number of scans since the order was discarded. */
  #scans = 0;

  get bytes(): number {
    return this.#docs?.bytes ?? 0;
  }

  /**
   * @param values of the column, by doc; NaN for none
   * @returns null if the caller should scan
   */
  *asked(values: Float64Array): Steps<SortedDocs | null> {
    if (this.#docs !== null) return this.#docs;
    if (this.#scans < scansPerSort) {
      this.#scans += 1;
      return null;
    }
    const { phase, detail } = current;
    current.enter('shared');
    const docs = yield* SortedDocs.of(values);
    current.enter(phase, detail);
    this.#docs = docs;
    return docs;
  }

  /** Records that a doc's number changes. @param before NaN for none */
  move(doc: number, before: number): void {
    if (this.#docs === null) return;
    this.#docs.move(doc, before);
    if (!this.#docs.isWorn) return;
    this.#docs = null;
    this.#scans = 0;
  }
}
