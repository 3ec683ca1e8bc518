import { FacetTally } from '../facets/tally.ts';

/**
 * Buffers of one query, which the next one uses again. Between queries `scores` and `stamps` are all zero, and nothing
 * is counted.
 */
export class Scratch {
  /** The matching docs. The step before says how many there are. */
  hits = new Int32Array(0);
  /** Sort keys, beside `hits`. */
  keys = new Float64Array(0);
  /** Packed scores by doc; see `score.ts`. */
  scores = new Uint32Array(0);
  /** For each doc, the number of the last word of the search that was found in it, counted from 1. */
  stamps = new Uint16Array(0);
  readonly tally = new FacetTally();
  /** Null before the first search that adds up scores. */
  #sums: Sums | null = null;

  reserve(capacity: number): void {
    if (this.hits.length >= capacity) return;
    this.hits = new Int32Array(capacity);
    this.keys = new Float64Array(capacity);
    this.scores = new Uint32Array(capacity);
    this.stamps = new Uint16Array(capacity);
    this.#sums = null;
  }

  /** Buffers of a search that adds up the scores of several fields. */
  sums(): Sums {
    const { length } = this.hits;
    this.#sums ??= { totals: new Float64Array(length), docs: new Int32Array(length) };
    return this.#sums;
  }

  /** Sets back the scores of a search. @param count number of docs that it found */
  clearScores(found: Int32Array, count: number): void {
    for (let at = 0; at < count; at += 1) {
      const doc = found[at] ?? 0;
      this.scores[doc] = 0;
      this.stamps[doc] = 0;
    }
  }

  /** As `clearScores`, and sets back the sums as well. */
  clear(found: Int32Array, count: number): void {
    this.clearScores(found, count);
    if (this.#sums === null) return;
    const { totals } = this.#sums;
    for (let at = 0; at < count; at += 1) totals[found[at] ?? 0] = 0;
  }
}

/** All zero between queries, as the scores are. */
interface Sums {
  /** Sums of weighted scores by doc. */
  readonly totals: Float64Array;
  /** Docs that have a sum. */
  readonly docs: Int32Array;
}

/** Most buffers that wait for the next queries. More may be in use, because a query that pauses keeps its own. */
const scratchesKept = 2;

/** The buffers of all shards of a process. */
export class Scratches {
  readonly #idle: Scratch[] = [];

  take(capacity: number): Scratch {
    const scratch = this.#idle.pop() ?? new Scratch();
    scratch.reserve(capacity);
    return scratch;
  }

  /** @param scratch must be clean. The scratch of a query that was given up is not given back */
  giveBack(scratch: Scratch): void {
    if (this.#idle.length < scratchesKept) this.#idle.push(scratch);
  }
}
