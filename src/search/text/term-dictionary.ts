import { countCodePoints } from '../../lib/code-points.ts';
import { docsPerGo, pace, type Steps } from '../pace.ts';
import { PagedList } from '../paged-list.ts';
import { EditDistance } from './edit-distance.ts';
import { hasMoreBits, letterMask } from './letter-mask.ts';
import { NearIndex, NearIndexBuilder } from './near-index.ts';

/** A term of the dictionary and its distance to the word for which it was found. */
export interface TermMatch {
  readonly term: string;
  readonly distance: number;
}

const capacityMin = 16;
/** The cost of comparing a character of a term, in units of the pace. */
const comparisonUnits = 5;
/** The cost of indexing a term, in units of the pace. */
const indexingUnits = 200;
/** A search indexes at most so many portions of terms, of so many each. It looks at the terms that are left. */
const portionsPerSearch = 64;
const portionTerms = 64;
/** Terms that are not indexed are looked at. The index is made again when they are so many, and this share of the others. */
const unindexedTermsMin = 2048;
const unindexedShare = 8;
/** Removed terms are cleared away when they are so many, and as many as the others. */
const removedTermsMin = 1024;

/** The terms near a word that were found so far. */
interface Nearby {
  readonly word: string;
  readonly length: number;
  readonly mask: number;
  readonly bound: number;
  /** A beginning of the term must be near, not the whole. */
  readonly isBeginning: boolean;
  /** Lists of matches by distance. */
  readonly matches: readonly TermMatch[][];
}

/**
 * The distinct words of one text field. It finds every term within a distance of a word. Most of the others are not
 * looked at, because an index knows which terms can be near (`near-index.ts`). It is made by the searches that need it.
 * Of the terms that are looked at, a bit mask excludes those whose letters differ too much: one edit changes at most one
 * letter on either side, and a swap none. The few that are left are compared exactly.
 */
export class TermDictionary {
  /** Undefined: the term is gone. */
  #terms = new PagedList<string | undefined>();
  /** Beside `#terms`, so that a look at a term need not read its text. */
  #masks = new Uint32Array(capacityMin);
  /** In code points. */
  #lengths = new Uint16Array(capacityMin);
  #removed = 0;
  #index: NearIndex | null = null;
  /** Null: nothing is made. */
  #builder: NearIndexBuilder | null = null;
  readonly #distance = new EditDistance();

  get size(): number {
    return this.#terms.length - this.#removed;
  }

  /** Bytes of what stands beside the terms. `TextIndex` counts the terms themselves. */
  get bytes(): number {
    const ofIndex = (this.#index?.bytes ?? 0) + (this.#builder?.bytes ?? 0);
    return this.#masks.byteLength + this.#lengths.byteLength + 8 * this.#terms.length + ofIndex;
  }

  /** Adds a term. The caller must add it only once. */
  add(term: string): void {
    const place = this.#terms.length;
    if (place === this.#masks.length) this.#reserve(place * 2);
    this.#terms.push(term);
    this.#masks[place] = letterMask(term);
    this.#lengths[place] = countCodePoints(term);
  }

  /** Every term within a distance of `bound` (0 to 2), the nearest first. */
  *within(word: string, bound: number): Steps<TermMatch[]> {
    return yield* this.#near(word, bound, false);
  }

  /** Every term of which some beginning is within a distance of `bound` (0 to 2), the nearest first. */
  *beginningWithin(word: string, bound: number): Steps<TermMatch[]> {
    return yield* this.#near(word, bound, true);
  }

  *#near(word: string, bound: number, isBeginning: boolean): Steps<TermMatch[]> {
    const length = countCodePoints(word);
    const near = { word, length, mask: letterMask(word), bound, isBeginning, matches: [[], [], []] };
    const isIndexed = bound > 0 && (!isBeginning || NearIndex.knowsBeginnings(length, bound));
    const index = isIndexed ? yield* this.#indexed() : null;
    if (index !== null) yield* this.#collectFrom(index, near);
    for (let place = index?.end ?? 0; place < this.#terms.length; ) {
      place = this.#collect(place, near);
      if (pace.isOver()) yield;
    }
    return near.matches.flat();
  }

  /** The index of most terms, which it makes or goes on to make; null when there is none yet. */
  *#indexed(): Steps<NearIndex | null> {
    const { phase, detail } = pace;
    pace.enter('shared');
    for (let portion = 0; portion < portionsPerSearch && this.#isIndexDue(); portion += 1) {
      this.#builder ??= new NearIndexBuilder(this.#terms, this.#terms.length);
      const made = this.#builder.advance(portionTerms);
      pace.units += indexingUnits * portionTerms;
      if (made !== null) [this.#index, this.#builder] = [made, null];
      if (pace.isOver()) yield;
    }
    pace.enter(phase, detail);
    return this.#index;
  }

  #isIndexDue(): boolean {
    const indexed = this.#index?.end ?? 0;
    const unindexed = this.#terms.length - indexed;
    return this.#builder !== null || unindexed > Math.max(unindexedTermsMin, indexed / unindexedShare);
  }

  /** Looks at the terms in the buckets of the word. */
  *#collectFrom(index: NearIndex, near: Nearby): Steps<void> {
    const seen = new Set<number>();
    for (const bucket of index.bucketsNear(near.word, near.bound)) {
      const end = index.starts[bucket + 1] ?? 0;
      for (let at = index.starts[bucket] ?? 0; at < end; ) {
        at = this.#collectListed(index.places, at, end, near, seen);
        if (pace.isOver()) yield;
      }
    }
  }

  /** Looks at the terms at listed places, each once. @returns the place in the list from which to go on */
  #collectListed(places: Int32Array, from: number, end: number, near: Nearby, seen: Set<number>): number {
    this.#distance.setWord(near.word);
    const unitsMax = pace.unitsPerLook - pace.units;
    let units = 0;
    let at = from;
    while (at < end && units < unitsMax) {
      const place = places[at] ?? 0;
      at += 1;
      units += 1;
      if (!this.#canBeNear(place, near) || seen.has(place)) continue;
      seen.add(place);
      units += this.#compare(place, near);
    }
    pace.units += units;
    return at;
  }

  /** Looks at the terms from a place on. @returns the place from which to go on */
  #collect(from: number, near: Nearby): number {
    const end = Math.min(this.#terms.length, from + docsPerGo);
    // Another search may have set its word between two calls.
    this.#distance.setWord(near.word);
    // Units are counted here and added at the end, because the loop can be nearly all of a search with typos.
    const unitsMax = pace.unitsPerLook - pace.units;
    let units = 0;
    let at = from;
    while (at < end && units < unitsMax) {
      if (this.#canBeNear(at, near)) units += this.#compare(at, near);
      at += 1;
    }
    pace.units += units + at - from;
    return at;
  }

  #canBeNear(place: number, { length, mask, bound, isBeginning }: Nearby): boolean {
    const longer = (this.#lengths[place] ?? 0) - length;
    if (longer < -bound) return false;
    const other = this.#masks[place] ?? 0;
    if (hasMoreBits(mask & ~other, bound)) return false;
    // Behind its beginning a term may have any letters.
    return isBeginning || (longer <= bound && !hasMoreBits(other & ~mask, bound));
  }

  /** Notes the term at a place if it is near. @returns the cost in units of the pace */
  #compare(place: number, { bound, isBeginning, matches }: Nearby): number {
    const term = this.#terms.at(place);
    if (term === undefined) return 0;
    const distance = isBeginning
      ? this.#distance.beginningWithin(term, bound)
      : this.#distance.within(term, bound);
    if (distance <= bound) matches[distance]?.push({ term, distance });
    return comparisonUnits * term.length;
  }

  /**
   * Visits terms until the budget is spent. `visit` returns the cost of a term, or -1 for a term to remove.
   * @param cursor place from which to go on; null at the beginning
   * @returns place from which to go on; null when every term was visited
   */
  sweep(cursor: SweepCursor | null, budget: number, visit: (term: string) => number): SweepCursor | null {
    let left = budget;
    // It goes backwards, so that terms that come meanwhile are not visited.
    let remaining = cursor?.remaining ?? this.#terms.length;
    while (remaining > 0) {
      if (left <= 0) return { remaining };
      remaining -= 1;
      left -= 1;
      const term = this.#terms.at(remaining);
      if (term === undefined) continue;
      const cost = visit(term);
      left -= Math.max(0, cost);
      if (cost >= 0) continue;
      this.#terms.set(remaining, undefined);
      this.#removed += 1;
    }
    if (this.#removed > Math.max(removedTermsMin, this.size)) this.#clearAway();
    return null;
  }

  /** Gives the terms places without gaps. The index does not know these. */
  #clearAway(): void {
    const terms = this.#terms;
    this.#terms = new PagedList();
    this.#removed = 0;
    this.#index = null;
    this.#builder = null;
    for (let from = 0; from < terms.length; from += 1) {
      const term = terms.at(from);
      if (term === undefined) continue;
      const to = this.#terms.length;
      this.#terms.push(term);
      this.#masks[to] = this.#masks[from] ?? 0;
      this.#lengths[to] = this.#lengths[from] ?? 0;
    }
  }

  #reserve(capacity: number): void {
    const masks = new Uint32Array(capacity);
    const lengths = new Uint16Array(capacity);
    masks.set(this.#masks);
    lengths.set(this.#lengths);
    this.#masks = masks;
    this.#lengths = lengths;
  }
}

export interface SweepCursor {
  /** Terms still to visit, from the front. */
  readonly remaining: number;
}
