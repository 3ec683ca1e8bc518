import { endOfGo } from '../filter/doc-test.ts';
import type { Order, PlaceValue } from '../sort/order.ts';

/**
 * `_score` = words − 1 + 1 / (1 + edits) (docs/reference/indexes-and-queries.md "Search"). `words` counts the distinct
 * words of the query that were found in the field. `edits` is the sum of their distances to the nearest word of the
 * field. So more words always beat fewer, and of equally many the closer match wins. n words that are found exactly
 * score n. Frequencies do not count, because they would differ from shard to shard.
 *
 * While a search runs, a doc's score is one whole number, `words * 65536 − edits`, which orders in the same way.
 */
export const wordWeight = 65536;

/** The `_score` of a packed score; 0 for none. */
export function scoreOf(packed: number): number {
  if (packed === 0) return 0;
  const words = Math.ceil(packed / wordWeight);
  return words - 1 + 1 / (1 + words * wordWeight - packed);
}

/** The order by `_score`. Without a search every doc has 0. */
export class ScoreOrder implements Order {
  readonly isExact = true;
  readonly isDescending: boolean;
  readonly #scores: Uint32Array | null;
  readonly #sign: number;

  constructor(scores: Uint32Array | null, isDescending: boolean) {
    this.#scores = scores;
    this.isDescending = isDescending;
    this.#sign = isDescending ? -1 : 1;
  }

  key(doc: number): number {
    return this.#sign * Number(this.value(doc));
  }

  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number {
    const scores = this.#scores;
    const sign = this.#sign;
    if (scores === null) {
      into.fill(0, from, end);
      return end;
    }
    const stop = endOfGo(from, end);
    for (let at = from; at < stop; at += 1) into[at] = sign * scoreOf(scores[docs[at] ?? 0] ?? 0);
    return stop;
  }

  compare(): number {
    return 0;
  }

  value(doc: number): PlaceValue {
    return scoreOf(this.#scores?.[doc] ?? 0);
  }

  keyOf(value: PlaceValue): number {
    return value === null ? Infinity : this.#sign * Number(value);
  }

  compareTo(): number {
    return 0;
  }
}
