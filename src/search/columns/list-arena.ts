import { assert } from '../../lib/assert.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { grown } from '../growth.ts';
import { type PartReader, type Parts, uint32 } from '../snapshot/parts.ts';

/** The cost of moving a list, in units of the work budget, plus a unit per item. */
const unitsPerMove = 20;

type Items = Int32Array | Float64Array | Int16Array;

/**
 * Lists of numbers, one per doc, in one typed array. A doc takes 8 bytes plus its items. Separate arrays would take about 50
 * bytes more per doc. Removed lists leave holes, which are closed when they outweigh the cost of closing them, so that a change
 * takes amortized constant time per item.
 */
export class ListArena<A extends Items> {
  items: A;
  starts: Uint32Array;
  counts: Uint32Array;
  #used = 0;
  #holes = 0;
  readonly #create: (length: number) => A;

  constructor(capacity: number, create: (length: number) => A) {
    this.#create = create;
    this.items = create(16);
    this.starts = new Uint32Array(capacity);
    this.counts = new Uint32Array(capacity);
  }

  get bytes(): number {
    return this.items.byteLength + this.starts.byteLength + this.counts.byteLength;
  }

  *parts(): Parts {
    yield this.items.subarray(0, this.#used);
    yield this.starts;
    yield this.counts;
    yield Uint32Array.of(this.#holes);
  }

  async restore(from: PartReader): Promise<void> {
    this.items = await from.numbers(this.#create);
    this.#used = this.items.length;
    this.starts = await from.numbers(uint32);
    this.counts = await from.numbers(uint32);
    [this.#holes = 0] = await from.numbers(uint32);
  }

  *grow(capacity: number): Steps<void> {
    this.starts = yield* grown(this.starts, new Uint32Array(capacity), 0);
    this.counts = yield* grown(this.counts, new Uint32Array(capacity), 0);
  }

  /** Makes room for a list. @returns the required steps; null if there is room */
  reserve(length: number): Steps<void> | null {
    if (this.#used + length <= this.items.length) return null;
    const isWorthClosing = this.#holes > this.#used / 2 && this.#holes > this.counts.length;
    const live = this.#used - this.#holes;
    return isWorthClosing
      ? this.#move(Math.max((live + length) * 2, 16))
      : this.#extend(Math.max(this.#used + length, this.items.length * 2));
  }

  /** Sets the list of a doc, which must have none. There must be room. */
  set(doc: number, list: readonly number[]): void {
    assert(this.counts[doc] === 0, 'a doc within the capacity, without a list');
    assert(this.#used + list.length <= this.items.length, 'there is room for the list');
    this.starts[doc] = this.#used;
    this.counts[doc] = list.length;
    // A loop is faster than `set` of a typed array for short lists.
    for (let at = 0; at < list.length; at += 1) this.items[this.#used + at] = list[at] ?? 0;
    this.#used += list.length;
  }

  clear(doc: number): void {
    this.#holes += this.counts[doc] ?? 0;
    this.counts[doc] = 0;
  }

  *#extend(length: number): Steps<void> {
    this.items = yield* grown(this.items.subarray(0, this.#used), this.#create(length), 0);
  }

  *#move(length: number): Steps<void> {
    const items = this.#create(length);
    let used = 0;
    for (let doc = 0; doc < this.counts.length; doc += 1) {
      workBudget.units += unitsPerMove;
      if (workBudget.isOver()) yield;
      const count = this.counts[doc] ?? 0;
      if (count === 0) continue;
      const start = this.starts[doc] ?? 0;
      items.set(this.items.subarray(start, start + count), used);
      this.starts[doc] = used;
      used += count;
      workBudget.units += count;
    }
    this.items = items;
    this.#used = used;
    this.#holes = 0;
  }
}
