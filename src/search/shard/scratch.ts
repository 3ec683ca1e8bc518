import { FacetTally } from '../facets/tally.ts';

/** Buffers of one query, reused by the next. `scores` and `stamps` are all zero between queries, and nothing is counted. */
export class Scratch {
  /** The matching docs, as many as the step before says. */
  hits = new Int32Array(0);
  /** Sort keys, beside `hits`. */
  keys = new Float64Array(0);
  /** By doc: see `score.ts`. */
  scores = new Uint32Array(0);
  /** By doc: the last word of the search that was found in it, counted from 1. */
  stamps = new Uint16Array(0);
  readonly tally = new FacetTally();

  reserve(capacity: number): void {
    if (this.hits.length >= capacity) return;
    this.hits = new Int32Array(capacity);
    this.keys = new Float64Array(capacity);
    this.scores = new Uint32Array(capacity);
    this.stamps = new Uint16Array(capacity);
  }

  get bytes(): number {
    return 18 * this.hits.length;
  }

  /** Sets back what a search left behind. @param count of the docs that it found */
  clearScores(found: Int32Array, count: number): void {
    for (let at = 0; at < count; at += 1) {
      const doc = found[at] ?? 0;
      this.scores[doc] = 0;
      this.stamps[doc] = 0;
    }
  }
}

/** A query that pauses keeps its buffers, so there may be several. As many wait for the next queries. */
const scratchesKept = 2;

/** The buffers of a process' shards: most often the same ones again. */
export class Scratches {
  readonly #idle: Scratch[] = [];

  take(capacity: number): Scratch {
    const scratch = this.#idle.pop() ?? new Scratch();
    scratch.reserve(capacity);
    return scratch;
  }

  /** @param scratch clean; one that a query left as it was is not given back */
  giveBack(scratch: Scratch): void {
    if (this.#idle.length < scratchesKept) this.#idle.push(scratch);
  }
}
