import { countCodePoints } from '../../lib/code-points.ts';
import { docsPerGo, pace, type Steps } from '../pace.ts';
import { EditDistance } from './edit-distance.ts';

/** A term of the dictionary and its distance to the word for which it was found. */
export interface TermMatch {
  readonly term: string;
  readonly distance: number;
}

/** Terms of one length in code points. `masks` stands beside `terms`, so that a scan need not read the texts. */
interface Bucket {
  terms: string[];
  masks: Uint32Array;
}

const bucketCapacityMin = 16;
/** The cost of comparing a character of a term, in units of the pace. */
const comparisonUnits = 5;

/** The terms near a word that were found so far. */
interface Nearby {
  readonly word: string;
  readonly mask: number;
  readonly bound: number;
  /** Lists of matches by distance. */
  readonly matches: readonly TermMatch[][];
}

/**
 * The distinct words of one text field, by length. It finds every term within a distance of a word. A bit mask excludes
 * terms whose letters differ too much: one edit changes at most one letter on either side, and a swap none. The few
 * terms that are left are compared exactly.
 */
export class TermDictionary {
  readonly #buckets = new Map<number, Bucket>();
  readonly #lengths: number[] = [];
  readonly #distance = new EditDistance();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a term. The caller must add it only once. */
  add(term: string): void {
    const length = countCodePoints(term);
    const bucket = this.#bucketOf(length);
    const at = bucket.terms.length;
    if (at === bucket.masks.length) {
      const masks = new Uint32Array(at * 2);
      masks.set(bucket.masks);
      bucket.masks = masks;
    }
    bucket.terms.push(term);
    bucket.masks[at] = letterMask(term);
    this.#size += 1;
  }

  /** Every term within a distance of `bound` (0 to 2), the nearest first. */
  *within(word: string, bound: number): Steps<TermMatch[]> {
    const near: Nearby = { word, mask: letterMask(word), bound, matches: [[], [], []] };
    const wordLength = countCodePoints(word);
    for (let length = Math.max(1, wordLength - bound); length <= wordLength + bound; length += 1) {
      const bucket = this.#buckets.get(length);
      if (bucket === undefined) continue;
      for (let place = 0; place < bucket.terms.length; ) {
        place = this.#collect(bucket, place, near);
        if (pace.isOver()) yield;
      }
    }
    return near.matches.flat();
  }

  /** Looks at the terms from a place on. @returns the place from which to go on */
  #collect({ terms, masks }: Bucket, from: number, { word, mask, bound, matches }: Nearby): number {
    const end = Math.min(terms.length, from + docsPerGo);
    // Another search may have set its word between two calls.
    this.#distance.setWord(word);
    // Units are counted here and added at the end, because the loop is nearly all of a search with typos.
    const unitsMax = pace.unitsPerLook - pace.units;
    let units = 0;
    let at = from;
    while (at < end) {
      const other = masks[at] ?? 0;
      at += 1;
      if (hasMoreBits(mask & ~other, bound) || hasMoreBits(other & ~mask, bound)) continue;
      const term = terms[at - 1] ?? '';
      const distance = this.#distance.within(term, bound);
      if (distance <= bound) matches[distance]?.push({ term, distance });
      units += comparisonUnits * term.length;
      if (units >= unitsMax) break;
    }
    pace.units += units + at - from;
    return at;
  }

  /**
   * Visits terms until the budget is spent. `visit` returns the cost of a term, or -1 for a term to remove.
   * @param cursor place from which to go on; null at the beginning
   * @returns place from which to go on; null when every term was visited
   */
  sweep(cursor: SweepCursor | null, budget: number, visit: (term: string) => number): SweepCursor | null {
    let left = budget;
    let lengthAt = cursor?.lengthAt ?? 0;
    let remaining = cursor?.remaining ?? Number.MAX_SAFE_INTEGER;
    for (; lengthAt < this.#lengths.length; lengthAt += 1) {
      const bucket = this.#buckets.get(this.#lengths[lengthAt] ?? 0);
      if (bucket === undefined) continue;
      // It goes backwards, so that a visited term takes the place of a removed one.
      let at = Math.min(remaining, bucket.terms.length);
      while (at > 0) {
        if (left <= 0) return { lengthAt, remaining: at };
        at -= 1;
        const cost = visit(bucket.terms[at] ?? '');
        if (cost < 0) this.#removeAt(bucket, at);
        left -= 1 + Math.max(0, cost);
      }
      remaining = Number.MAX_SAFE_INTEGER;
    }
    return null;
  }

  /** Bytes of the masks and, roughly, of the places of the terms. `TextIndex` counts the terms themselves. */
  get bytes(): number {
    let bytes = 0;
    for (const bucket of this.#buckets.values()) bytes += bucket.masks.byteLength + 8 * bucket.terms.length;
    return bytes;
  }

  #removeAt(bucket: Bucket, at: number): void {
    const last = bucket.terms.length - 1;
    this.#size -= 1;
    bucket.terms[at] = bucket.terms[last] ?? '';
    bucket.masks[at] = bucket.masks[last] ?? 0;
    bucket.terms.pop();
  }

  #bucketOf(length: number): Bucket {
    const known = this.#buckets.get(length);
    if (known !== undefined) return known;
    const bucket = { terms: [], masks: new Uint32Array(bucketCapacityMin) };
    this.#buckets.set(length, bucket);
    this.#lengths.push(length);
    return bucket;
  }
}

export interface SweepCursor {
  readonly lengthAt: number;
  /** Terms of that length still to visit, from the front. */
  readonly remaining: number;
}

/** The letters of a text as bits: one for each of a to z. Other characters share the bits. */
function letterMask(text: string): number {
  let mask = 0;
  for (let at = 0; at < text.length; at += 1) {
    const codePoint = text.codePointAt(at) ?? 0;
    if (codePoint > 0xffff) at += 1;
    mask |= 1 << (codePoint >= 0x61 && codePoint <= 0x7a ? codePoint - 0x61 : codePoint & 31);
  }
  return mask;
}

function hasMoreBits(bits: number, bound: number): boolean {
  let left = bits;
  for (let count = 0; count < bound && left !== 0; count += 1) left &= left - 1;
  return left !== 0;
}
