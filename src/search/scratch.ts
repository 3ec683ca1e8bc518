import { CodeTally } from './columns/code-tally.ts';

/** Buffers of a query, which later queries reuse. Between queries, counts and places are clear. */
export class Scratch {
  /** The matching docs. Their number is passed separately. */
  hits = new Int32Array(0);
  /** Sort keys, parallel to `hits`. */
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

  /** Clears the notes of a search. @param count number of docs that it found */
  clear(found: Int32Array, count: number): void {
    this.#search?.clear(found, count);
  }
}

/**
 * Search state of the docs that were found, by place: 1 for the first of `hits`, and so on. So the state of these docs is
 * together in memory, however many docs there are. See `word-search.ts`.
 */
export class SearchScratch {
  /** Number of docs that were found. */
  found = 0;
  /** Place of each doc; 0 for docs that were not found. */
  readonly places: Int32Array;
  /** Places of the docs of a word. */
  readonly ofWord: Int32Array;
  /** The last word that was found in the doc, and whether it matches closely. */
  readonly stamps: Uint16Array;
  /** How many words were found in it. */
  readonly notes: Int32Array;
  /** Frequencies of the terms of a word, multiplied by their factors: of one field (`sums`), and of all (`x`). */
  readonly sums: Float64Array;
  readonly x: Float64Array;
  /** The score so far. */
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

  /** Clears the places of the listed docs, which must be all that were found. */
  clear(found: Int32Array, count: number): void {
    for (let at = 0; at < count; at += 1) this.places[found[at] ?? 0] = 0;
    this.found = 0;
  }
}

/** Maximum number of idle buffers. More may be in use, because paused queries keep theirs. */
const scratchesKept = 2;

/** The buffers of all shards of a process. */
export class Scratches {
  readonly #idle: Scratch[] = [];

  take(capacity: number): Scratch {
    const scratch = this.#idle.pop() ?? new Scratch();
    scratch.reserve(capacity);
    return scratch;
  }

  /** @param scratch must be clear. Do not release the scratch of an aborted query */
  release(scratch: Scratch): void {
    if (this.#idle.length < scratchesKept) this.#idle.push(scratch);
  }
}
