import { countCodePoints } from '../../lib/code-points.ts';
import { itemsPerStep, type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { IdTable } from '../id-table.ts';
import { current } from '../phase.ts';
import { int32, type PartReader, type Parts } from '../snapshot/parts.ts';
import { ValueList } from '../value-list.ts';
import {
  DeletionNeighborhoodIndex,
  DeletionNeighborhoodIndexBuilder,
  type NeighborhoodCursor,
} from './deletion-neighborhood-index.ts';
import { EditDistance } from './edit-distance.ts';
import { CodeBatch, CodeDistance, isSharpCode, isSharpWord } from './letter-codes.ts';
import { goneSignature, LetterSignatureFilter, letterSignatureOf } from './letter-signature.ts';
import { SortedPrefixIndex } from './sorted-prefix-index.ts';

const capacityMin = 16;
/** The cost of comparing a character of a term, in units of the work budget. */
const comparisonUnits = 5;
/** The cost of comparing an indexed term by its code, in units of the work budget. */
const candidateUnits = 20;
/** The cost of indexing a term, in units of the work budget. */
const indexingUnits = 200;
/** A search indexes at most this many portions of this many terms, and tests the remaining terms. */
const portionsPerSearch = 512;
const portionTerms = 64;
/** The index is rebuilt when there are more unindexed terms than this, and than 1/8 of the indexed ones. */
const unindexedTermsMin = 2048;
const unindexedShare = 8;
/** Removed terms are purged when there are more of them than this, and more than other terms. */
const removedTermsMin = 1024;
/** Number of indexed terms to compare in one batch. */
const batchTerms = 256;
const batchTermIds = new Int32Array(batchTerms);
const batchCodes = new CodeBatch(batchTerms);

/** The terms near a word that have been found so far. */
interface Nearby {
  readonly word: string;
  readonly length: number;
  readonly filter: LetterSignatureFilter;
  readonly bound: number;
  /** Compare prefixes of the terms instead of whole terms. */
  readonly isPrefix: boolean;
  /** Term ids by distance. */
  readonly matches: readonly number[][];
}

/**
 * The distinct words of a text field, each with an id, which is a small number. Finds all terms within a distance of a word
 * without testing most others: an index knows which terms can be near (`deletion-neighborhood-index.ts`), and a sorted list
 * finds those with a similar prefix (`sorted-prefix-index.ts`). Searches that need these build them. Of the remaining terms, a
 * bit mask excludes those whose letters differ too much (`letter-signature.ts`), and letter codes exclude most others
 * (`letter-codes.ts`). The few that are left are compared by their texts, unless the codes are exact.
 */
export class TermDictionary {
  /** Texts of removed terms remain until `clearAway`, because the sorted index compares them. */
  #terms = new ValueList<string>();
  #ids = new IdTable(this.#terms);
  /** Separate from `#terms`, so that a test need not read the text. */
  #signatures = new Int32Array(capacityMin);
  #removed = 0;
  #index: DeletionNeighborhoodIndex | null = null;
  /** Null: no index is being built. */
  #builder: DeletionNeighborhoodIndexBuilder | null = null;
  #order: SortedPrefixIndex | null = null;
  /** The remaining steps of the next sorted index; null if none is being built. */
  #ordering: Steps<SortedPrefixIndex> | null = null;
  readonly #distance = new EditDistance();
  readonly #codeDistance = new CodeDistance();

  get size(): number {
    return this.#terms.length - this.#removed;
  }

  /** Memory in bytes, without the terms themselves, which `TextIndex` counts. */
  get bytes(): number {
    const ofIndexes = (this.#index?.bytes ?? 0) + (this.#builder?.bytes ?? 0) + (this.#order?.bytes ?? 0);
    return this.#signatures.byteLength + this.#ids.bytes + 8 * this.#terms.length + ofIndexes;
  }

  *parts(): Parts {
    yield this.#signatures;
    yield* this.#terms.parts();
    yield* this.#ids.parts();
  }

  async restore(from: PartReader): Promise<void> {
    this.#signatures = await from.numbers(int32);
    await this.#terms.restore(from);
    await this.#ids.restore(from);
    this.#removed = this.#terms.length - this.#ids.size;
  }

  /** All terms, in steps. */
  *all(visit: (term: string) => void): Steps<void> {
    for (let termId = 0; termId < this.#terms.length; termId += 1) {
      if (this.#signatures[termId] !== goneSignature) visit(this.termOf(termId));
      if (workBudget.isOver()) yield;
    }
  }

  /** The id of a term; -1 for none. */
  termIdOf(term: string): number {
    return this.#ids.find(term);
  }

  /** The id of a term in a list; empty for an unknown term. */
  termIdsOf(term: string): readonly number[] {
    const termId = this.termIdOf(term);
    return termId < 0 ? [] : [termId];
  }

  /** The term with an id. */
  termOf(termId: number): string {
    return this.#terms.at(termId) ?? '';
  }

  /** All ids are below this. */
  get end(): number {
    return this.#terms.length;
  }

  /** The id of a term, which must not be empty. A new term is added at the end. */
  findOrAdd(term: string): number {
    const { end } = this;
    const termId = this.#ids.findOrAdd(term, end);
    if (termId < end) return termId;
    if (end === this.#signatures.length) this.#reserve(end * 2);
    this.#terms.push(term);
    this.#signatures[end] = letterSignatureOf(term);
    return end;
  }

  /** The ids of all terms within a distance of `bound` (0 to 2), by distance. */
  *within(word: string, bound: number): Steps<readonly (readonly number[])[]> {
    if (bound === 0) return [this.termIdsOf(word)];
    const near = nearby(word, bound, false);
    yield* this.#collectIndexed(near);
    return near.matches;
  }

  /**
   * The ids of all terms with a prefix within a distance of `bound` (0 to 2), by distance. May include ids of removed
   * terms.
   */
  *prefixWithin(word: string, bound: number): Steps<readonly (readonly number[])[]> {
    const near = nearby(word, bound, true);
    if (bound > 0 && DeletionNeighborhoodIndex.knowsPrefixes(near.length, bound))
      yield* this.#collectIndexed(near);
    else yield* this.#collectOrdered(near);
    return near.matches;
  }

  *#collectIndexed(near: Nearby): Steps<void> {
    const index = yield* this.#indexed();
    if (index !== null) yield* this.#collectFrom(index, near);
    yield* this.#collectRest(index?.end ?? 0, near);
  }

  *#collectOrdered(near: Nearby): Steps<void> {
    const order = yield* this.#ordered();
    const { word, bound, matches } = near;
    const points = Array.from(word, (letter) => letter.codePointAt(0) ?? 0);
    if (order !== null) yield* order.collect(points, bound, matches);
    yield* this.#collectRest(order?.end ?? 0, near);
  }

  /** Tests all terms from an id on. */
  *#collectRest(from: number, near: Nearby): Steps<void> {
    for (let termId = from; termId < this.#terms.length; ) {
      termId = this.#collect(termId, near);
      if (workBudget.isOver()) yield;
    }
  }

  /** The sorted index of most terms, which this starts or continues to build for a while; null while there is none. */
  *#ordered(): Steps<SortedPrefixIndex | null> {
    const ordered = this.#order?.end ?? 0;
    if (this.#ordering === null && !this.#isDue(ordered)) return this.#order;
    const { phase, detail } = current;
    current.enter('shared');
    this.#ordering ??= SortedPrefixIndex.of(this.#terms, this.#terms.length, this.#order);
    const step = this.#ordering.next();
    if (step.done === true) [this.#order, this.#ordering] = [step.value, null];
    else yield;
    current.enter(phase, detail);
    return this.#order;
  }

  /** The neighborhood index of most terms, which this starts or continues to build; null while there is none. */
  *#indexed(): Steps<DeletionNeighborhoodIndex | null> {
    const { phase, detail } = current;
    current.enter('shared');
    for (let portion = 0; portion < portionsPerSearch && this.#isIndexDue(); portion += 1) {
      this.#builder ??= new DeletionNeighborhoodIndexBuilder(this.#terms, this.#terms.length);
      const made = this.#builder.advance(portionTerms);
      workBudget.units += indexingUnits * portionTerms;
      if (made !== null) [this.#index, this.#builder] = [made, null];
      if (workBudget.isOver()) yield;
    }
    current.enter(phase, detail);
    return this.#index;
  }

  #isIndexDue(): boolean {
    return this.#builder !== null || this.#isDue(this.#index?.end ?? 0);
  }

  /** True if a new index is due because too many terms are not among the first `indexed` ones. */
  #isDue(indexed: number): boolean {
    return this.#terms.length - indexed > Math.max(unindexedTermsMin, indexed / unindexedShare);
  }

  /** Tests the terms in the buckets of the word. */
  *#collectFrom(index: DeletionNeighborhoodIndex, near: Nearby): Steps<void> {
    const seen = new Set<number>();
    const cursor = index.near(near.word, near.bound);
    while (cursor.at.length > 0) {
      this.#collectNext(index, cursor, near, seen);
      if (workBudget.isOver()) yield;
    }
  }

  /** Tests the next terms in the buckets, each only once. */
  #collectNext(
    index: DeletionNeighborhoodIndex,
    cursor: NeighborhoodCursor,
    near: Nearby,
    seen: Set<number>,
  ): void {
    const { word, bound, isPrefix, matches } = near;
    const { count, looks } = index.read(cursor, near.filter, batchTermIds, workBudget.unitsPerClockCheck);
    index.codes.read(batchTermIds, count, batchCodes);
    // Another search may have set its word since the last call.
    this.#distance.setWord(word);
    this.#codeDistance.setWord(word);
    const isSharp = isSharpWord(word);
    for (let at = 0; at < count; at += 1) {
      const termId = batchTermIds[at] ?? 0;
      const first = batchCodes.first[at] ?? 0;
      const atLeast = this.#codeDistance.atLeast(first, batchCodes.second[at] ?? 0, bound, isPrefix);
      if (atLeast > bound || seen.has(termId)) continue;
      seen.add(termId);
      const distance = isSharp && isSharpCode(first) ? atLeast : this.#distanceTo(this.termOf(termId), near);
      if (distance <= bound && this.#signatures[termId] !== goneSignature) matches[distance]?.push(termId);
    }
    workBudget.units += looks + candidateUnits * count;
  }

  /** Tests the terms from an id on. @returns the id from which to continue */
  #collect(from: number, near: Nearby): number {
    const end = Math.min(this.#terms.length, from + itemsPerStep);
    // Another search may have set its word since the last call.
    this.#distance.setWord(near.word);
    // Count units locally and add them at the end, because this loop can take nearly all of a search with typos.
    const unitsMax = workBudget.unitsPerClockCheck - workBudget.units;
    let units = 0;
    let at = from;
    while (at < end && units < unitsMax) {
      if (near.filter.passes(this.#signatures[at] ?? goneSignature)) units += this.#compare(at, near);
      at += 1;
    }
    workBudget.units += units + at - from;
    return at;
  }

  /** Collects the id of a term if it is near. @returns the cost in units of the work budget */
  #compare(termId: number, near: Nearby): number {
    const term = this.termOf(termId);
    const distance = this.#distanceTo(term, near);
    if (distance <= near.bound) near.matches[distance]?.push(termId);
    return comparisonUnits * term.length;
  }

  #distanceTo(term: string, { bound, isPrefix }: Nearby): number {
    return isPrefix ? this.#distance.prefixWithin(term, bound) : this.#distance.within(term, bound);
  }

  /**
   * Visits the ids of terms until the budget is spent. `visit` returns the cost of a term, or -1 to remove the term.
   * @param cursor where to continue; null at the beginning
   * @returns where to continue; null after the last term
   */
  sweep(cursor: SweepCursor | null, budget: number, visit: (termId: number) => number): SweepCursor | null {
    let left = budget;
    // Go backwards, so that terms added meanwhile are not visited.
    let remaining = cursor?.remaining ?? this.#terms.length;
    while (remaining > 0) {
      if (left <= 0) return { remaining };
      remaining -= 1;
      left -= 1;
      if (this.#signatures[remaining] === goneSignature) continue;
      const cost = visit(remaining);
      left -= Math.max(0, cost);
      if (cost < 0) this.#remove(remaining);
    }
    return null;
  }

  #remove(termId: number): void {
    this.#ids.remove(this.termOf(termId), termId);
    this.#signatures[termId] = goneSignature;
    this.#removed += 1;
  }

  /**
   * Renumbers the terms without gaps if most have been removed, and drops the indexes, which have the previous ids.
   * @returns the previous id of each term; null if nothing was done
   */
  clearAway(): readonly number[] | null {
    if (this.#removed <= Math.max(removedTermsMin, this.size)) return null;
    const terms = this.#terms;
    const kept: number[] = [];
    this.#terms = new ValueList();
    this.#ids = new IdTable(this.#terms);
    this.#removed = 0;
    [this.#index, this.#builder, this.#order, this.#ordering] = [null, null, null, null];
    for (let from = 0; from < terms.length; from += 1) {
      const signature = this.#signatures[from] ?? goneSignature;
      if (signature === goneSignature) continue;
      const term = terms.at(from) ?? '';
      const to = this.#terms.length;
      this.#ids.add(term, to);
      this.#terms.push(term);
      this.#signatures[to] = signature;
      kept.push(from);
    }
    return kept;
  }

  #reserve(capacity: number): void {
    const signatures = new Int32Array(capacity);
    signatures.set(this.#signatures);
    this.#signatures = signatures;
  }
}

export interface SweepCursor {
  /** Number of terms still to visit, from the start. */
  readonly remaining: number;
}

function nearby(word: string, bound: number, isPrefix: boolean): Nearby {
  const length = countCodePoints(word);
  const filter = new LetterSignatureFilter(word, bound, isPrefix);
  return { word, length, filter, bound, isPrefix, matches: [[], [], []] };
}
