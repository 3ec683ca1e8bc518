import { endOfGo } from '../filter/condition.ts';
import type { Order, PlaceValue } from '../sort/order.ts';

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
