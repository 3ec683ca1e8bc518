/** The first docs, or other items, in an order. */
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { endOfGo } from '../filter/condition.ts';
import type { RowPlace } from '../shard-answer.ts';
import { compareDocs, compareToPlace, type Ranking } from './order.ts';

/** The minimum cost of sorting an item, in units of the work budget. */
const unitsPerItem = 10;

/**
 * Keeps the first items in an order: by key, then by a comparison that never returns 0. A binary heap with the last item on
 * top, so that most offered items cost one numeric comparison.
 */
export class TopHeap {
  /** Key of the last item once the heap is full. Items with a greater key need not be offered. */
  lastKey = Infinity;
  readonly #compare: (a: number, b: number) => number;
  readonly #items: Int32Array;
  readonly #keys: Float64Array;
  #size = 0;

  /**
   * @param capacity number of items to keep
   * @param compare compares items with equal keys
   */
  constructor(capacity: number, compare: (a: number, b: number) => number) {
    this.#compare = compare;
    this.#items = new Int32Array(capacity);
    this.#keys = new Float64Array(capacity);
  }

  offer(item: number, key: number): void {
    if (this.#size < this.#items.length) {
      this.#rise(this.#size, item, key);
      this.#size += 1;
    } else if (this.#isBefore(item, key, this.#items[0] ?? 0, this.#keys[0] ?? 0)) {
      this.#sink(item, key, this.#size);
    }
    if (this.#size === this.#items.length) this.lastKey = this.#keys[0] ?? 0;
  }

  /** The items in order. Must be the last call. */
  *drain(): Steps<Int32Array> {
    for (let left = this.#size; left > 1; ) {
      left = this.#drainSome(left);
      if (workBudget.isOver()) yield;
    }
    return this.#items.subarray(0, this.#size);
  }

  /** Heapsort: moves the last of the first `size` items to their end, and repeats. @returns the number of unsorted items */
  #drainSome(size: number): number {
    const stopUnits = workBudget.units + workBudget.unitsPerClockCheck;
    let left = size;
    while (left > 1 && workBudget.units < stopUnits) {
      left -= 1;
      const item = this.#items[left] ?? 0;
      const key = this.#keys[left] ?? 0;
      this.#items[left] = this.#items[0] ?? 0;
      this.#keys[left] = this.#keys[0] ?? 0;
      this.#sink(item, key, left);
      workBudget.units += unitsPerItem;
    }
    return left;
  }

  #isBefore(item: number, key: number, otherItem: number, otherKey: number): boolean {
    return key === otherKey ? this.#compare(item, otherItem) < 0 : key < otherKey;
  }

  #rise(from: number, item: number, key: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const parentItem = this.#items[parent] ?? 0;
      const parentKey = this.#keys[parent] ?? 0;
      if (!this.#isBefore(parentItem, parentKey, item, key)) break;
      this.#items[at] = parentItem;
      this.#keys[at] = parentKey;
      at = parent;
    }
    this.#items[at] = item;
    this.#keys[at] = key;
  }

  /** Replaces the top of a heap of `size` items. */
  #sink(item: number, key: number, size: number): void {
    const items = this.#items;
    const keys = this.#keys;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      const right = child + 1;
      if (
        right < size &&
        this.#isBefore(items[child] ?? 0, keys[child] ?? 0, items[right] ?? 0, keys[right] ?? 0)
      ) {
        child = right;
      }
      if (!this.#isBefore(item, key, items[child] ?? 0, keys[child] ?? 0)) break;
      items[at] = items[child] ?? 0;
      keys[at] = keys[child] ?? 0;
      at = child;
    }
    items[at] = item;
    keys[at] = key;
  }
}

/** Docs in ascending order of their ids. */
export interface DocList {
  readonly docs: Int32Array;
  /** Buffer for the docs' first keys. */
  readonly keys: Float64Array;
  readonly count: number;
}

/** The first `limit` docs in order; with a row position, only docs after it. */
export function* topDocs(
  ranking: Ranking,
  list: DocList,
  limit: number,
  after: RowPlace | null,
): Steps<Int32Array> {
  const { docs, keys, count } = list;
  const [first] = ranking.orders;
  if (limit === 0 || count === 0 || first === undefined) return new Int32Array(0);
  for (let at = 0; at < count; ) {
    at = first.keys(docs, at, count, keys);
    if (workBudget.isOver()) yield;
  }
  const heap = new TopHeap(Math.min(limit, count), (a, b) => compareDocs(ranking, a, b));
  const start = { place: after, key: after === null ? -Infinity : first.keyOf(after.values[0] ?? null) };
  for (let at = 0; at < count; ) {
    at = offerSome(ranking, heap, list, start, at);
    if (workBudget.isOver()) yield;
  }
  return yield* heap.drain();
}

/**
 * @param from number of docs offered before
 * @returns number of docs offered so far
 */
function offerSome(
  ranking: Ranking,
  heap: TopHeap,
  { docs, keys, count }: DocList,
  after: { readonly place: RowPlace | null; readonly key: number },
  from: number,
): number {
  const isDescending = ranking.orders[0]?.isDescending ?? false;
  const end = endOfGo(from, count);
  // Comparisons add units as well.
  const stopUnits = workBudget.units + workBudget.unitsPerClockCheck;
  for (let offered = from; offered < end; offered += 1) {
    // Newer docs tend to have greater values, and the heap is fastest if the first docs in order are offered first.
    const at = isDescending ? count - 1 - offered : offered;
    const key = keys[at] ?? 0;
    if (key > heap.lastKey || key < after.key) continue;
    if (workBudget.units >= stopUnits) return offered;
    const doc = docs[at] ?? 0;
    if (after.place !== null && key === after.key && compareToPlace(ranking, doc, after.place) <= 0) continue;
    heap.offer(doc, key);
  }
  return end;
}
