import { endOfGo } from '../filter/matcher.ts';
import { type Maybe, pace, type Steps, Unfinished } from '../pace.ts';
import type { RowPlace } from '../shard-answer.ts';
import type { Order } from './order.ts';

/**
 * The total order of an answer: its sort keys, then `_originId`, then `_sourceGuid`
 * (docs/reference/indexes-and-queries.md "Sorting").
 */
export interface Ranking {
  readonly orders: readonly Order[];
  /** Of docs that all orders call equal; never 0 for two docs. */
  compareIds(a: number, b: number): number;
  /** The doc's ids against those of a place. */
  compareIdsTo(doc: number, place: RowPlace): number;
}

/**
 * The first `limit` of the docs in order, after `after` when there is a place: a heap whose top is the last doc kept,
 * so that most docs cost one comparison of two numbers.
 */
export function topDocs(
  ranking: Ranking,
  docs: Int32Array,
  keys: Float64Array,
  count: number,
  limit: number,
  after: RowPlace | null,
): Maybe<Int32Array> {
  const [first] = ranking.orders;
  if (limit === 0 || count === 0 || first === undefined) return new Int32Array(0);
  const heap = new DocHeap(ranking, Math.min(limit, count));
  const afterKey = after === null ? -Infinity : first.keyOf(after.values[0] ?? null);
  const listed: Listed = { docs, keys, count, after, afterKey, isDescending: first.isDescending };
  const keyed = first.keys(docs, 0, count, keys);
  const offered = keyed < count ? 0 : offerSome(ranking, heap, listed, 0);
  if (offered === count && heap.drainSome()) return heap.drained;
  return new Unfinished(restOfTopDocs(ranking, heap, listed, { keyed, offered }));
}

function* restOfTopDocs(
  ranking: Ranking,
  heap: DocHeap,
  listed: Listed,
  done: { readonly keyed: number; readonly offered: number },
): Steps<Int32Array> {
  const { docs, count, keys } = listed;
  if (pace.isOver()) yield;
  for (let at = done.keyed; at < count; ) {
    at = ranking.orders[0]?.keys(docs, at, count, keys) ?? count;
    if (pace.isOver()) yield;
  }
  for (let at = done.offered; at < count; ) {
    at = offerSome(ranking, heap, listed, at);
    if (pace.isOver()) yield;
  }
  while (!heap.drainSome()) if (pace.isOver()) yield;
  return heap.drained;
}

/** Docs in ascending order of their ids, with their first keys, to be put in order. */
interface Listed {
  readonly docs: Int32Array;
  readonly keys: Float64Array;
  readonly count: number;
  readonly after: RowPlace | null;
  /** First key of `after`. */
  readonly afterKey: number;
  readonly isDescending: boolean;
}

/** @param from how many were offered before @returns how many were offered now */
function offerSome(ranking: Ranking, heap: DocHeap, listed: Listed, from: number): number {
  const { docs, keys, count, after, afterKey, isDescending } = listed;
  const end = endOfGo(from, count);
  // Comparing docs adds to it.
  const stopUnits = pace.units + pace.unitsPerLook;
  for (let offered = from; offered < end; offered += 1) {
    // Newer docs tend to have the greater values, and a heap is fastest when the first docs come first.
    const at = isDescending ? count - 1 - offered : offered;
    const key = keys[at] ?? 0;
    if (key > heap.lastKey || key < afterKey) continue;
    if (pace.units >= stopUnits) return offered;
    const doc = docs[at] ?? 0;
    if (after !== null && key === afterKey && compareToPlace(ranking, doc, after) <= 0) continue;
    heap.offer(doc, key);
  }
  return end;
}

/** What comparing two docs takes at least, in units of the pace. */
const comparisonUnits = 10;

/** Of docs whose first keys are equal. */
function compareDocs(ranking: Ranking, a: number, b: number): number {
  const { orders } = ranking;
  for (let at = 0; at < orders.length; at += 1) {
    const order = orders[at];
    if (order === undefined) break;
    pace.units += comparisonUnits;
    if (at > 0) {
      const keyA = order.key(a);
      const keyB = order.key(b);
      if (keyA !== keyB) return keyA < keyB ? -1 : 1;
    }
    if (order.isExact) continue;
    const compared = order.compare(a, b);
    if (compared !== 0) return compared;
  }
  return ranking.compareIds(a, b);
}

/** A doc whose first key is equal to the place's, against the place. */
function compareToPlace(ranking: Ranking, doc: number, place: RowPlace): number {
  const { orders } = ranking;
  for (let at = 0; at < orders.length; at += 1) {
    const order = orders[at];
    if (order === undefined) break;
    pace.units += comparisonUnits;
    const value = place.values[at] ?? null;
    const key = order.key(doc);
    const placeKey = order.keyOf(value);
    if (key !== placeKey) return key < placeKey ? -1 : 1;
    const compared = order.compareTo(doc, value);
    if (compared !== 0) return compared;
  }
  return ranking.compareIdsTo(doc, place);
}

/** Keeps the first docs in order; the last of them is on top. */
class DocHeap {
  /** Key of the last doc kept, once full: a doc with a greater one is not worth offering. */
  lastKey = Infinity;
  readonly #ranking: Ranking;
  readonly #docs: Int32Array;
  readonly #keys: Float64Array;
  #size = 0;
  #isDraining = false;
  /** Docs that are not in order yet. */
  #left = 0;

  constructor(ranking: Ranking, capacity: number) {
    this.#ranking = ranking;
    this.#docs = new Int32Array(capacity);
    this.#keys = new Float64Array(capacity);
  }

  offer(doc: number, key: number): void {
    if (this.#size < this.#docs.length) {
      this.#rise(this.#size, doc, key);
      this.#size += 1;
    } else if (this.#isBefore(doc, key, this.#docs[0] ?? 0, this.#keys[0] ?? 0)) {
      this.#sink(doc, key, this.#size);
    }
    if (this.#size === this.#docs.length) this.lastKey = this.#keys[0] ?? 0;
  }

  /** Puts some of the docs in order, the last ones first; the heap is used up. @returns whether all are */
  drainSome(): boolean {
    const stopUnits = pace.units + pace.unitsPerLook;
    if (!this.#isDraining) {
      this.#isDraining = true;
      this.#left = this.#size;
    }
    while (this.#left > 1 && pace.units < stopUnits) {
      this.#left -= 1;
      const size = this.#left;
      const doc = this.#docs[size] ?? 0;
      const key = this.#keys[size] ?? 0;
      this.#docs[size] = this.#docs[0] ?? 0;
      this.#keys[size] = this.#keys[0] ?? 0;
      this.#sink(doc, key, size);
    }
    return this.#left <= 1;
  }

  /** The docs in order, once all are. */
  get drained(): Int32Array {
    return this.#docs.subarray(0, this.#size);
  }

  #isBefore(doc: number, key: number, otherDoc: number, otherKey: number): boolean {
    if (key !== otherKey) return key < otherKey;
    return compareDocs(this.#ranking, doc, otherDoc) < 0;
  }

  #rise(from: number, doc: number, key: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const parentDoc = this.#docs[parent] ?? 0;
      const parentKey = this.#keys[parent] ?? 0;
      if (!this.#isBefore(parentDoc, parentKey, doc, key)) break;
      this.#docs[at] = parentDoc;
      this.#keys[at] = parentKey;
      at = parent;
    }
    this.#docs[at] = doc;
    this.#keys[at] = key;
  }

  /** Puts a doc in place of the top of a heap of `size`. */
  #sink(doc: number, key: number, size: number): void {
    const docs = this.#docs;
    const keys = this.#keys;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      const right = child + 1;
      if (
        right < size &&
        this.#isBefore(docs[child] ?? 0, keys[child] ?? 0, docs[right] ?? 0, keys[right] ?? 0)
      ) {
        child = right;
      }
      if (!this.#isBefore(doc, key, docs[child] ?? 0, keys[child] ?? 0)) break;
      docs[at] = docs[child] ?? 0;
      keys[at] = keys[child] ?? 0;
      at = child;
    }
    docs[at] = doc;
    keys[at] = key;
  }
}
