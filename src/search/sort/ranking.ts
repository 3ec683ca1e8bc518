import { workBudget } from '../../lib/cooperative-yield.ts';
import type { RowPlace } from '../shard-answer.ts';
import type { Order } from './order.ts';

/** The total order of an answer: its sort keys, then `_originId`, then `_sourceGuid` (docs/reference/indexes-and-queries.md "Sorting"). */
export interface Ranking {
  readonly orders: readonly Order[];
  /** Compares docs that are equal in all orders; never 0 for two docs. */
  compareIds(a: number, b: number): number;
  /** Compares the doc's ids with those of a place. */
  compareIdsTo(doc: number, place: RowPlace): number;
}

/** The least cost of comparing two docs, in units of the pace. */
const comparisonUnits = 10;

/** The order of two docs whose first keys are equal; never 0. */
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

/** The order of a doc and a place whose first keys are equal. */
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
