import { CodeTally } from './columns/code-tally.ts';

/**
 * Buffers of one query, which the next one uses again. Between queries nothing is counted, and no doc is stamped or noted.
 */
export class Scratch {
  /** The matching docs. The step before says how many there are. */
  hits = new Int32Array(0);
  /** Sort keys, beside `hits`. */
  keys = new Float64Array(0);
  readonly tally = new CodeTally();
  /** Null before the first search. */
  #search: SearchScratch | null = null;

  reserve(capacity: number): void {
    if (this.hits.length >= capacity) return;
    this.hits = new Int32Array(capacity);
    this.keys = new Float64Array(capacity);
    this.#search = null;
  }

  /** Buffers of a search. */
  search(): SearchScratch {
    this.#search ??= new SearchScratch(this.hits.length);
    return this.#search;
  }

  /** Sets back what a search has noted. @param count number of docs that it found */
  clear(found: Int32Array, count: number): void {
    this.#search?.clear(found, count);
  }
}

/** Search state of each doc, by doc. See `word-search.ts`. */
export class SearchScratch {
  /** Docs of a word. */
  readonly docs: Int32Array;
  /** The last word that was found in the doc, and how closely. */
  readonly stamps: Uint16Array;
  /** Which words were found in it. */
  readonly notes: Int32Array;
  /** How often the terms of a word are in it, each times its factor: of one field, and of all. */
  readonly sums: Float64Array;
  readonly x: Float64Array;
  /** Its score so far. */
  readonly totals: Float64Array;

  constructor(length: number) {
    this.docs = new Int32Array(length);
    this.stamps = new Uint16Array(length);
    this.notes = new Int32Array(length);
    this.sums = new Float64Array(length);
    this.x = new Float64Array(length);
    this.totals = new Float64Array(length);
  }

  /** Sets back the docs of a list. The numbers of a doc mean nothing without its stamp and notes. */
  clear(found: Int32Array, count: number): void {
    for (let at = 0; at < count; at += 1) {
      const doc = found[at] ?? 0;
      this.stamps[doc] = 0;
      this.notes[doc] = 0;
    }
  }
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
