import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { endOfGo } from '../filter/condition.ts';
import type { RowPlace } from '../shard-answer.ts';
import { compareDocs, compareToPlace, type Ranking } from './order.ts';
import { TopHeap } from './top-heap.ts';

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
