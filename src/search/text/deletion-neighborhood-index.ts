import { LetterCodes } from './letter-codes.ts';
import { goneSignature, type LetterSignatureFilter, letterSignatureOf } from './letter-signature.ts';

/** Number of code points at the start of a term that are indexed. Shorter terms are padded with blanks. */
const indexedPoints = 6;
const blank = 0;
/** Maximum number of edits that the index supports. */
const boundMax = 2;
/** Pairs of positions that variants leave out. */
const leftOut: readonly (readonly [number, number])[] = Array.from({ length: indexedPoints }, (_, first) =>
  Array.from({ length: indexedPoints - first - 1 }, (_, at): [number, number] => [first, first + at + 1]),
).flat();
/** A bucket has about this many terms, so that its bounds take far less memory than its entries. */
const termsPerBucketMin = 8;
/** An entry of a bucket: the id of a term and its signature. */
const intsPerEntry = 2;

/** The terms of a dictionary by id. */
export interface TermsById {
  /** Undefined after the last id. May still return texts of removed terms. */
  at(termId: number): string | undefined;
}

/** The unread entries of a word's buckets: from each `at` to its `end`. */
export interface NeighborhoodCursor {
  readonly at: number[];
  readonly ends: number[];
}

/**
 * Finds the terms that can be near a word without testing the others (docs/design/search.md "How a search finds words"). Two
 * words within 2 edits become equal after removing at most 2 code points from each, and so do their first 6 code points after
 * removing exactly 2. So each term is in 15 buckets, one per pair of removed positions, and a search only reads the 15 buckets
 * of its word. For 1 edit the first 5 code points are enough: these are the variants without the sixth position. Buckets are
 * hashed, so they also contain terms that are not candidates.
 */
export class DeletionNeighborhoodIndex {
  /** The terms with ids below this are indexed. */
  readonly end: number;
  readonly codes: LetterCodes;
  /** All buckets in sequence: the id of each term and its signature, so that a test needs no other memory. */
  readonly #entries: Int32Array;
  /** Start of each bucket, in entries; the last one is the end of all. */
  readonly #starts: Uint32Array;

  constructor({ end, codes, entries, starts }: DeletionNeighborhoodIndexParts) {
    this.end = end;
    this.codes = codes;
    this.#entries = entries;
    this.#starts = starts;
  }

  get bytes(): number {
    return this.codes.bytes + this.#entries.byteLength + this.#starts.byteLength;
  }

  /** A cursor on the buckets with all indexed terms within `bound` edits (1 or 2) of a word. */
  near(word: string, bound: number): NeighborhoodCursor {
    const count = readBuckets(word, bound, this.#starts.length - 2);
    const cursor: NeighborhoodCursor = { at: [], ends: [] };
    for (let bucket = 0; bucket < count; bucket += 1) {
      const at = buckets[bucket] ?? 0;
      cursor.at.push(this.#starts[at] ?? 0);
      cursor.ends.push(this.#starts[at + 1] ?? 0);
    }
    return cursor;
  }

  /**
   * Reads until `into` is full or `looksMax` entries were tested. Returns the ids of terms whose signatures pass. Some may be
   * repeated, and some terms may have been removed.
   */
  read(
    cursor: NeighborhoodCursor,
    filter: LetterSignatureFilter,
    into: Int32Array,
    looksMax: number,
  ): NeighborhoodRead {
    const entries = this.#entries;
    let count = 0;
    let looks = 0;
    recent.fill(-1);
    while (cursor.at.length > 0) {
      const last = cursor.at.length - 1;
      const from = cursor.at[last] ?? 0;
      const end = Math.min(cursor.ends[last] ?? 0, from + looksMax - looks);
      let at = from;
      for (; at < end && count < into.length; at += 1) {
        if (!filter.passes(entries[intsPerEntry * at + 1] ?? goneSignature)) continue;
        const termId = entries[intsPerEntry * at] ?? 0;
        const slot = termId & (recent.length - 1);
        if (recent[slot] === termId) continue;
        recent[slot] = termId;
        into[count] = termId;
        count += 1;
      }
      looks += at - from;
      if (at < (cursor.ends[last] ?? 0)) {
        cursor.at[last] = at;
        break;
      }
      cursor.at.pop();
      cursor.ends.pop();
    }
    return { count, looks };
  }

  /** True if the buckets of a word also have all terms with a prefix within `bound` edits of it. */
  static knowsPrefixes(wordLength: number, bound: number): boolean {
    return bound === 1 ? wordLength >= indexedPoints - 1 : wordLength >= indexedPoints;
  }
}

export interface NeighborhoodRead {
  /** Number of returned ids. */
  readonly count: number;
  /** Number of tested entries. */
  readonly looks: number;
}

interface DeletionNeighborhoodIndexParts {
  readonly end: number;
  readonly codes: LetterCodes;
  readonly entries: Int32Array;
  readonly starts: Uint32Array;
}

/** Builds an index of the terms with ids below `end`, a few at a time. Terms may be removed meanwhile. */
export class DeletionNeighborhoodIndexBuilder {
  readonly end: number;
  readonly #terms: TermsById;
  readonly #codes: LetterCodes;
  readonly #starts: Uint32Array;
  readonly #bucketMask: number;
  /** Null while the sizes of the buckets are counted. */
  #entries: Int32Array | null = null;
  #at = 0;

  constructor(terms: TermsById, end: number) {
    this.end = end;
    this.#terms = terms;
    this.#codes = new LetterCodes(end);
    const wanted = Math.max(1, Math.floor((end * leftOut.length) / termsPerBucketMin));
    const bucketCount = 1 << (31 - Math.clz32(wanted));
    this.#starts = new Uint32Array(bucketCount + 1);
    this.#bucketMask = bucketCount - 1;
  }

  get bytes(): number {
    return this.#codes.bytes + this.#starts.byteLength + (this.#entries?.byteLength ?? 0);
  }

  /** Processes the next `count` terms of one of the two passes. @returns the index when it is complete, otherwise null */
  advance(count: number): DeletionNeighborhoodIndex | null {
    const to = Math.min(this.end, this.#at + count);
    for (; this.#at < to; this.#at += 1) {
      const term = this.#terms.at(this.#at);
      if (term === undefined) continue;
      if (this.#entries === null) this.#count(term);
      else this.#put(this.#entries, this.#at, term);
    }
    if (this.#at < this.end) return null;
    if (this.#entries !== null) {
      return new DeletionNeighborhoodIndex({
        end: this.end,
        codes: this.#codes,
        entries: this.#entries,
        starts: this.#starts,
      });
    }
    this.#entries = new Int32Array(intsPerEntry * this.#sumUp());
    this.#at = 0;
    return null;
  }

  #count(term: string): void {
    const count = readBuckets(term, boundMax, this.#bucketMask);
    for (let at = 0; at < count; at += 1) {
      const bucket = buckets[at] ?? 0;
      this.#starts[bucket] = (this.#starts[bucket] ?? 0) + 1;
    }
  }

  /** Adds a term to its buckets, filling each from its end to its start. */
  #put(entries: Int32Array, termId: number, term: string): void {
    const count = readBuckets(term, boundMax, this.#bucketMask);
    const signature = letterSignatureOf(term);
    for (let at = 0; at < count; at += 1) {
      const bucket = buckets[at] ?? 0;
      const next = (this.#starts[bucket] ?? 0) - 1;
      this.#starts[bucket] = next;
      entries[intsPerEntry * next] = termId;
      entries[intsPerEntry * next + 1] = signature;
    }
    this.#codes.set(termId, term);
  }

  /** Turns the sizes of the buckets into their end positions. @returns the sum */
  #sumUp(): number {
    const starts = this.#starts;
    let sum = 0;
    for (let bucket = 0; bucket < starts.length; bucket += 1) {
      sum += starts[bucket] ?? 0;
      starts[bucket] = sum;
    }
    return sum;
  }
}

const prefix = new Uint32Array(indexedPoints);
const buckets = new Int32Array(leftOut.length);
/** Recently returned ids of a call of `read`, by their lowest bits. A term near a word is usually in several of its buckets. */
const recent = new Int32Array(512);

/**
 * Writes the buckets of a text to `buckets`, without duplicates.
 * @param bound edits, 1 or 2
 * @returns their number
 */
function readBuckets(text: string, bound: number, bucketMask: number): number {
  readPrefix(text);
  let count = 0;
  for (const [first, second] of leftOut) {
    if (bound === 1 && second !== indexedPoints - 1) continue;
    const bucket = variantHash(first, second) & bucketMask;
    // Repeated letters yield equal variants. Entries from `count` on are from an earlier call.
    const known = buckets.indexOf(bucket);
    if (known >= 0 && known < count) continue;
    buckets[count] = bucket;
    count += 1;
  }
  return count;
}

/** Writes the first code points of a text to `prefix`. */
function readPrefix(text: string): void {
  let count = 0;
  for (let at = 0; at < text.length && count < indexedPoints; at += 1) {
    const codePoint = text.codePointAt(at) ?? blank;
    if (codePoint > 0xffff) at += 1;
    prefix[count] = codePoint;
    count += 1;
  }
  prefix.fill(blank, count);
}

/** Hashes `prefix` without two of its code points. */
function variantHash(first: number, second: number): number {
  let hash = 0x9e3779b9;
  for (let at = 0; at < indexedPoints; at += 1) {
    if (at === first || at === second) continue;
    hash = Math.imul(hash ^ (prefix[at] ?? blank), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
