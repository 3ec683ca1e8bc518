import { CodeTally } from './columns/code-tally.ts';

/**
 * Buffers of one query, which the next one uses again. Between queries nothing is counted, and no doc has a place.
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

/**
 * Search state of each doc that was found, by place: it is the n-th of `hits`, beginning with 1. So the numbers of these docs are
 * together, however many docs there are. See `word-search.ts`.
 */
export class SearchScratch {
  /** Number of docs that were found. */
  found = 0;
  /** The place of each doc, by doc; 0: it was not found. */
  readonly places: Int32Array;
  /** Places of the docs of a word. */
  readonly ofWord: Int32Array;
  /** The last word that was found in the doc, and how closely. */
  readonly stamps: Uint16Array;
  /** How many words were found in it. */
  readonly notes: Int32Array;
  /** How often the terms of a word are in it, each times its factor: of one field, and of all. */
  readonly sums: Float64Array;
  readonly x: Float64Array;
  /** Its score so far. */
  readonly totals: Float64Array;

  constructor(length: number) {
    this.places = new Int32Array(length);
    this.ofWord = new Int32Array(length);
    this.stamps = new Uint16Array(length + 1);
    this.notes = new Int32Array(length + 1);
    this.sums = new Float64Array(length + 1);
    this.x = new Float64Array(length + 1);
    this.totals = new Float64Array(length + 1);
  }

  /** Forgets the docs of a list, which are all that were found. */
  clear(found: Int32Array, count: number): void {
    for (let at = 0; at < count; at += 1) this.places[found[at] ?? 0] = 0;
    this.found = 0;
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
