import { endOfGo } from '../filter/doc-test.ts';
import type { Order, PlaceValue } from '../sort/order.ts';

/**
 * The score of a field = words − 1 + 1 / (1 + edits) (docs/reference/indexes-and-queries.md "Search"). `words` counts the
 * distinct words of the query that were found in the field. `edits` is the sum of their distances to the nearest word of
 * the field. So more words always beat fewer, and of equally many the closer match wins. n words that are found exactly
 * score n. Frequencies do not count, because they would differ from shard to shard.
 *
 * While a search runs, a doc's score in a field is one whole number, `words * 65536 − cost`, which orders in the same way.
 */
export const wordWeight = 65536;

/** What words that mean the word count as: more than the word itself, less than a misspelt one. */
export const synonymEdits = 0.25;
export const stemEdits = 0.5;
/** A match of a word's beginning counts as so many edits, and its own: whole words allow fewer. */
export const beginningEdits = 3;
/** Matches that are nearer than an edit are told apart, so the cost of a match is a whole number of quarters. */
const costPerEdit = 4;

/** The cost of a match, as packed scores count it. @param edits a multiple of a quarter */
export function costOf(edits: number): number {
  return edits * costPerEdit;
}

/** The score of a field from a packed one; 0 for none. */
export function scoreOf(packed: number): number {
  if (packed === 0) return 0;
  const words = Math.ceil(packed / wordWeight);
  return words - 1 + 1 / (1 + (words * wordWeight - packed) / costPerEdit);
}

/** The `_score` of a doc. */
export type DocScore = (doc: number) => number;

export const noScore: DocScore = () => 0;

/** The order by `_score`. */
export class ScoreOrder implements Order {
  readonly isExact = true;
  readonly isDescending: boolean;
  readonly #scoreOf: DocScore;
  readonly #sign: number;

  constructor(scoreOf: DocScore, isDescending: boolean) {
    this.#scoreOf = scoreOf;
    this.isDescending = isDescending;
    this.#sign = isDescending ? -1 : 1;
  }

  key(doc: number): number {
    return this.#sign * Number(this.value(doc));
  }

  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number {
    const score = this.#scoreOf;
    const sign = this.#sign;
    const stop = endOfGo(from, end);
    for (let at = from; at < stop; at += 1) into[at] = sign * score(docs[at] ?? 0);
    return stop;
  }

  compare(): number {
    return 0;
  }

  value(doc: number): PlaceValue {
    return this.#scoreOf(doc);
  }

  keyOf(value: PlaceValue): number {
    return value === null ? Infinity : this.#sign * Number(value);
  }

  compareTo(): number {
    return 0;
  }
}
