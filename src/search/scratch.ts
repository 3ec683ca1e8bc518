import { CodeTally } from './columns/code-tally.ts';

/** Buffers of a query, which later queries reuse. Between queries, counts, stamps and notes are clear. */
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

/** Search state by doc. See `word-search.ts`. */
export class SearchScratch {
  /** Docs of a word. */
  readonly docs: Int32Array;
  /** The last word that was found in the doc, and whether it matches closely. */
  readonly stamps: Uint16Array;
  /** Which words were found in it. */
  readonly notes: Int32Array;
  /** Frequencies of the terms of a word, multiplied by their factors: of one field (`sums`), and of all (`x`). */
  readonly sums: Float64Array;
  readonly x: Float64Array;
  /** The score so far. */
  readonly totals: Float64Array;

  constructor(length: number) {
    this.docs = new Int32Array(length);
    this.stamps = new Uint16Array(length);
    this.notes = new Int32Array(length);
    this.sums = new Float64Array(length);
    this.x = new Float64Array(length);
    this.totals = new Float64Array(length);
  }

  /** Clears stamps and notes of the listed docs. The other numbers of a doc are ignored without them. */
  clear(found: Int32Array, count: number): void {
    for (let at = 0; at < count; at += 1) {
      const doc = found[at] ?? 0;
      this.stamps[doc] = 0;
      this.notes[doc] = 0;
    }
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

  /** @param scratch must be clear. Do not give back the scratch of an aborted query */
  giveBack(scratch: Scratch): void {
    if (this.#idle.length < scratchesKept) this.#idle.push(scratch);
  }
}
