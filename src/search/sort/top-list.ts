import { type Maybe, sorted, Unfinished } from '../pace.ts';

/** Of texts that together are shorter. */
const shortUnits = 65_536;

/** The first `limit` of the numbers offered, in the order of `compare`: a heap with the last of them on top. */
export class TopList {
  readonly #limit: number;
  readonly #compare: (a: number, b: number) => number;
  readonly #heap: number[] = [];

  constructor(limit: number, compare: (a: number, b: number) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  offer(item: number): void {
    const heap = this.#heap;
    if (heap.length < this.#limit) {
      heap.push(item);
      this.#rise(heap.length - 1);
      return;
    }
    const last = heap[0];
    if (last === undefined || this.#compare(item, last) >= 0) return;
    heap[0] = item;
    this.#sink();
  }

  /** What was kept, in order; the list is used up. @param values which are compared */
  drain(values: { valueOf(item: number): unknown }): Maybe<number[]> {
    return this.#isShort(values)
      ? this.#heap.sort(this.#compare)
      : new Unfinished(sorted(this.#heap, this.#compare));
  }

  /** Whether the values of what was kept are compared in no time. */
  #isShort(values: { valueOf(item: number): unknown }): boolean {
    let units = this.#heap.length;
    for (let at = 0; at < this.#heap.length && units < shortUnits; at += 1) {
      const value = values.valueOf(this.#heap[at] ?? 0);
      if (typeof value === 'string') units += value.length;
    }
    return units < shortUnits;
  }

  #rise(from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#compare(heap[parent] ?? 0, heap[at] ?? 0) >= 0) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const right = left + 1;
      const isRightLater = right < heap.length && this.#compare(heap[right] ?? 0, heap[left] ?? 0) > 0;
      const child = isRightLater ? right : left;
      if (this.#compare(heap[at] ?? 0, heap[child] ?? 0) >= 0) return;
      this.#swap(at, child);
      at = child;
    }
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    const kept = heap[a] ?? 0;
    heap[a] = heap[b] ?? 0;
    heap[b] = kept;
  }
}
