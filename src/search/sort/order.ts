/** The order of a shard's docs in an answer: by each key of its sort, and by all of them. */
import { workBudget } from '../../lib/cooperative-yield.ts';
import type { PlainValue } from '../packed-values.ts';
import type { RowPlace } from '../shard-answer.ts';

export type PlaceValue = PlainValue | null;

/** One key of a sort, bound to the docs of a shard and to its direction: "smaller" means earlier in the answer. */
export interface Order {
  /** True when docs with equal keys are equal; otherwise `compare` decides between them. */
  readonly isExact: boolean;
  readonly isDescending: boolean;
  /** A number that sorts like the doc's value. `Infinity` for no value, because absent values are last in both orders. */
  key(doc: number): number;
  /** Writes `key` of the docs at `from`..`end` to the same indexes of `into`. @returns where to continue */
  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number;
  /** Compares docs with equal keys. */
  compare(a: number, b: number): number;
  /** The value by which the doc is sorted, for a `RowPlace`. */
  value(doc: number): PlaceValue;
  /** The key of a value from a `RowPlace`. */
  keyOf(value: PlaceValue): number;
  /** Compares the doc with a value whose key equals the doc's. */
  compareTo(doc: number, value: PlaceValue): number;
}

/** The order of a field that no doc has. */
export const absentOrder: Order = {
  isExact: true,
  isDescending: false,
  key: () => Infinity,
  keys: (_docs, from, end, into) => {
    into.fill(Infinity, from, end);
    return end;
  },
  compare: () => 0,
  value: () => null,
  keyOf: () => Infinity,
  compareTo: () => 0,
};

/** The total order of an answer: its sort keys, then `_originId`, then `_sourceGuid` (docs/reference/indexes-and-queries.md "Sorting"). */
export interface Ranking {
  readonly orders: readonly Order[];
  /** Compares docs that are equal in all orders; never 0 for two docs. */
  compareIds(a: number, b: number): number;
  /** Compares the doc's ids with those of a row position. */
  compareIdsTo(doc: number, place: RowPlace): number;
}

/** The minimum cost of comparing two docs, in units of the work budget. */
const comparisonUnits = 10;

/** Compares two docs with equal first keys; never 0. */
export function compareDocs(ranking: Ranking, a: number, b: number): number {
  const { orders } = ranking;
  for (let at = 0; at < orders.length; at += 1) {
    const order = orders[at];
    if (order === undefined) break;
    workBudget.units += comparisonUnits;
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

/** Compares a doc and a row position with equal first keys. */
export function compareToPlace(ranking: Ranking, doc: number, place: RowPlace): number {
  const { orders } = ranking;
  for (let at = 0; at < orders.length; at += 1) {
    const order = orders[at];
    if (order === undefined) break;
    workBudget.units += comparisonUnits;
    const value = place.values[at] ?? null;
    const key = order.key(doc);
    const placeKey = order.keyOf(value);
    if (key !== placeKey) return key < placeKey ? -1 : 1;
    const compared = order.compareTo(doc, value);
    if (compared !== 0) return compared;
  }
  return ranking.compareIdsTo(doc, place);
}
