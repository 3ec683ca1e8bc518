import { FacetTally } from './facet-tally.ts';

/**
 * Buffers of one query, reused by the next: a query is answered without a pause, so all shards of a process can share
 * one. `scores` and `stamps` are all zero between queries.
 */
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

  /** Sets back what a search left behind for the first `count` hits. */
  clearScores(count: number): void {
    for (let at = 0; at < count; at += 1) {
      const doc = this.hits[at] ?? 0;
      this.scores[doc] = 0;
      this.stamps[doc] = 0;
    }
  }
}
