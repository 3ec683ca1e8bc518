/** Code points of a term's beginning that are indexed. Behind the end of a shorter term there are blanks. */
const indexedPoints = 6;
const blank = 0;
/** The two places that a variant leaves out. */
const leftOut: readonly (readonly [number, number])[] = Array.from({ length: indexedPoints }, (_, first) =>
  Array.from({ length: indexedPoints - first - 1 }, (_, at): [number, number] => [first, first + at + 1]),
).flat();
/** A bucket has about this many places of terms, so that its bounds take less than what is in it. */
const placesPerBucketMin = 2;

/** Terms by the places at which a dictionary has them. */
export interface TermPlaces {
  /** Undefined behind the last place. Texts of terms that are gone may still be there. */
  at(place: number): string | undefined;
}

/**
 * The terms that can be near a word, without a look at the others (docs/design/search.md "How a search finds words"). Two
 * words within 2 edits become equal when at most 2 code points are left out of either, and so do their beginnings of 6 code
 * points when exactly 2 are left out. So each term stands in 15 buckets, one for each pair of places that may be left out,
 * and a word need only look into its own 15. For 1 edit the beginnings of 5 will do: these are the variants that leave out
 * the sixth place. Buckets are hashed: they give candidates, and others.
 */
export class NearIndex {
  /** Places of terms, bucket after bucket. */
  readonly places: Int32Array;
  /** Where each bucket begins; the last entry is the end of all. */
  readonly starts: Uint32Array;
  /** The terms at places below this are indexed. */
  readonly end: number;
  readonly #bucketMask: number;

  constructor(places: Int32Array, starts: Uint32Array, end: number) {
    this.places = places;
    this.starts = starts;
    this.end = end;
    this.#bucketMask = starts.length - 2;
  }

  get bytes(): number {
    return this.places.byteLength + this.starts.byteLength;
  }

  /** The buckets with all indexed terms within `bound` edits (1 or 2) of a word, each once. */
  bucketsNear(word: string, bound: number): readonly number[] {
    const buckets = new Set<number>();
    readBeginning(word);
    for (const [first, second] of leftOut) {
      if (bound === 1 && second !== indexedPoints - 1) continue;
      buckets.add(variantHash(first, second) & this.#bucketMask);
    }
    return [...buckets];
  }

  /** True when the buckets of a word also have all terms of which some beginning is within `bound` edits of it. */
  static knowsBeginnings(wordLength: number, bound: number): boolean {
    return bound === 1 ? wordLength >= indexedPoints - 1 : wordLength >= indexedPoints;
  }
}

/** Makes an index of the terms at places below `end`, a few at a time. Terms may go meanwhile. */
export class NearIndexBuilder {
  readonly end: number;
  readonly #terms: TermPlaces;
  readonly #starts: Uint32Array;
  readonly #bucketMask: number;
  /** Null while the sizes of the buckets are counted. */
  #places: Int32Array | null = null;
  #at = 0;

  constructor(terms: TermPlaces, end: number) {
    this.end = end;
    this.#terms = terms;
    const wanted = Math.max(1, Math.floor((end * leftOut.length) / placesPerBucketMin));
    const bucketCount = 1 << (31 - Math.clz32(wanted));
    this.#starts = new Uint32Array(bucketCount + 1);
    this.#bucketMask = bucketCount - 1;
  }

  get bytes(): number {
    return this.#starts.byteLength + (this.#places?.byteLength ?? 0);
  }

  /** Does the next `count` terms of one of the two rounds. @returns the index when it is done, else null */
  advance(count: number): NearIndex | null {
    const to = Math.min(this.end, this.#at + count);
    for (; this.#at < to; this.#at += 1) this.#take(this.#at);
    if (this.#at < this.end) return null;
    if (this.#places !== null) return new NearIndex(this.#places, this.#starts, this.end);
    this.#sumUp();
    this.#at = 0;
    return null;
  }

  /** Counts the term at a place in its buckets, or puts the place into them, from the end of each to its start. */
  #take(place: number): void {
    const term = this.#terms.at(place);
    if (term === undefined) return;
    readBeginning(term);
    const starts = this.#starts;
    const places = this.#places;
    for (const [first, second] of leftOut) {
      const bucket = variantHash(first, second) & this.#bucketMask;
      const next = starts[bucket] ?? 0;
      if (places === null) {
        starts[bucket] = next + 1;
        continue;
      }
      starts[bucket] = next - 1;
      places[next - 1] = place;
    }
  }

  /** Turns the sizes of the buckets into their ends. */
  #sumUp(): void {
    const starts = this.#starts;
    let sum = 0;
    for (let bucket = 0; bucket < starts.length; bucket += 1) {
      sum += starts[bucket] ?? 0;
      starts[bucket] = sum;
    }
    this.#places = new Int32Array(sum);
  }
}

const beginning = new Uint32Array(indexedPoints);

/** Reads the first code points of a text into `beginning`. */
function readBeginning(text: string): void {
  let count = 0;
  for (let at = 0; at < text.length && count < indexedPoints; at += 1) {
    const codePoint = text.codePointAt(at) ?? blank;
    if (codePoint > 0xffff) at += 1;
    beginning[count] = codePoint;
    count += 1;
  }
  beginning.fill(blank, count);
}

/** A hash of `beginning` without two of its places. */
function variantHash(first: number, second: number): number {
  let hash = 0x9e3779b9;
  for (let at = 0; at < indexedPoints; at += 1) {
    if (at === first || at === second) continue;
    hash = Math.imul(hash ^ (beginning[at] ?? blank), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
