/** Docs in the order of a column's numbers: sorted once that pays, corrected for docs that change, and given up after many. */
import { type Steps, unitsPerGo, workBudget } from '../../lib/cooperative-yield.ts';
import { sorted } from '../../lib/slices/merge-sort.ts';
import { current } from '../phase.ts';

/** Docs that changed are looked at one by one. The order is given up when they are so many, and this share of all. */
const movedDocsMin = 256;
const movedShare = 32;

/** Numbers from `low` to `high`, both included. */
export interface Stretch {
  readonly low: number;
  readonly high: number;
}

/** Which docs of a stretch are asked for. */
export interface Walk {
  readonly isDescending: boolean;
  readonly limit: number;
  /** Only docs with this number or after it count, and those with it do not count towards the limit; null: all. */
  readonly after: number | null;
}

/** The first docs of a stretch, in no certain order. */
export interface FirstDocs {
  /** Those within the limit, all that have the last number of these, and maybe others. */
  readonly docs: Int32Array;
  /** The limit was not reached. */
  readonly isAll: boolean;
}

/**
 * The docs of a column in the order of their numbers, as they were at one time, and those that changed since. The numbers
 * are the column's own (`values`, by doc): they give the bounds of a range, so its size is a difference.
 */
export class SortedDocs {
  readonly #docs: Int32Array;
  /** Docs that changed, with the numbers by which they are in the order; NaN for those that do not. */
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

  /** So many docs changed that a new order is due. */
  get isWorn(): boolean {
    return this.#moved.size > Math.max(movedDocsMin, this.#docs.length / movedShare);
  }

  /** Notes that a doc's number changes. @param before NaN for none */
  move(doc: number, before: number): void {
    if (!this.#moved.has(doc)) this.#moved.set(doc, before);
  }

  /** How many docs have a number of the stretch. */
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

  /** The first docs of a stretch in a direction. */
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
    const end = Math.min(to - from, found.walked + unitsPerGo);
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

  /** How many docs of the order have a number below `number`, or not above it if `isIncluded`. */
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

/** To sort the docs costs about as much as so many scans. */
export const scansPerSort = 64;

/**
 * The order of a column's docs, kept while it pays. It is sorted once scans without it have cost as much, and given up when
 * many docs have changed. So an import, which wears it again and again, does not have it sorted for each query between.
 */
export class KeptOrder {
  #docs: SortedDocs | null = null;
  /** Since the order was given up. */
  #scans = 0;

  get bytes(): number {
    return this.#docs?.bytes ?? 0;
  }

  /** @param values of the column, by doc; NaN for none @returns null when the caller is to scan */
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

  /** Notes that a doc's number changes. @param before NaN for none */
  move(doc: number, before: number): void {
    if (this.#docs === null) return;
    this.#docs.move(doc, before);
    if (!this.#docs.isWorn) return;
    this.#docs = null;
    this.#scans = 0;
  }
}
