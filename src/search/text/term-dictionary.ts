import { countCodePoints } from '../../lib/code-points.ts';
import { type Steps, unitsPerGo, workBudget } from '../../lib/cooperative-yield.ts';
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
/** The cost of comparing a term of the index by its code, in units of the work budget. */
const candidateUnits = 20;
/** The cost of indexing a term, in units of the work budget. */
const indexingUnits = 200;
/** A search indexes at most this many portions of terms, of this many each. It looks at the terms that are left. */
const portionsPerSearch = 512;
const portionTerms = 64;
/** Terms that are not indexed are looked at. The index is made again when they are so many, and this share of the others. */
const unindexedTermsMin = 2048;
const unindexedShare = 8;
/** Removed terms are cleared away when they are so many, and as many as the others. */
const removedTermsMin = 1024;
/** Terms of an index that are compared in one go. */
const batchTerms = 256;
const batchTermIds = new Int32Array(batchTerms);
const batchCodes = new CodeBatch(batchTerms);

/** The terms near a word that were found so far. */
interface Nearby {
  readonly word: string;
  readonly length: number;
  readonly filter: LetterSignatureFilter;
  readonly bound: number;
  /** A beginning of the term must be near, not the whole. */
  readonly isBeginning: boolean;
  /** Term ids by distance. */
  readonly matches: readonly number[][];
}

/**
 * The distinct words of one text field, each with an id: a small number. It finds every term within a distance of a word.
 * Most of the others are not looked at, because an index knows which terms can be near
 * (`deletion-neighborhood-index.ts`), and a sorted list those that begin alike (`sorted-prefix-index.ts`). Both are made by
 * the searches that need them. Of the terms that are looked at, a bit mask excludes those whose letters differ too much
 * (`letter-signature.ts`), and codes of their letters most of the others (`letter-codes.ts`). The few that are left are
 * compared by their texts, where the codes do not say all.
 */
export class TermDictionary {
  /** Texts of terms that are gone stay until `clearAway`, since the order goes by them. */
  #terms = new ValueList<string>();
  #ids = new IdTable(this.#terms);
  /** Beside `#terms`, so that a look at a term need not read its text. */
  #signatures = new Int32Array(capacityMin);
  #removed = 0;
  #index: DeletionNeighborhoodIndex | null = null;
  /** Null: nothing is made. */
  #builder: DeletionNeighborhoodIndexBuilder | null = null;
  #order: SortedPrefixIndex | null = null;
  /** The remaining work for the next order; null when none is being made. */
  #ordering: Steps<SortedPrefixIndex> | null = null;
  readonly #distance = new EditDistance();
  readonly #codeDistance = new CodeDistance();

  get size(): number {
    return this.#terms.length - this.#removed;
  }

  /** Bytes of what stands beside the terms. `TextIndex` counts the terms themselves. */
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

  /** The id of a term; -1: it is not there. */
  termIdOf(term: string): number {
    return this.#ids.find(term);
  }

  /** The id of a term in a list; an empty one when it is not there. */
  termIdsOf(term: string): readonly number[] {
    const termId = this.termIdOf(term);
    return termId < 0 ? [] : [termId];
  }

  /** The term of an id. */
  termOf(termId: number): string {
    return this.#terms.at(termId) ?? '';
  }

  /** All ids are below this. */
  get end(): number {
    return this.#terms.length;
  }

  /** The id of a term that is not empty. One that is not there is added at the end. */
  findOrAdd(term: string): number {
    const { end } = this;
    const termId = this.#ids.findOrAdd(term, end);
    if (termId < end) return termId;
    if (end === this.#signatures.length) this.#reserve(end * 2);
    this.#terms.push(term);
    this.#signatures[end] = letterSignatureOf(term);
    return end;
  }

  /** The ids of every term within a distance of `bound` (0 to 2), by distance. */
  *within(word: string, bound: number): Steps<readonly (readonly number[])[]> {
    if (bound === 0) return [this.termIdsOf(word)];
    const near = nearby(word, bound, false);
    yield* this.#collectIndexed(near);
    return near.matches;
  }

  /**
   * The ids of every term of which some beginning is within a distance of `bound` (0 to 2), by distance. Those of terms
   * that are gone may be among them.
   */
  *beginningWithin(word: string, bound: number): Steps<readonly (readonly number[])[]> {
    const near = nearby(word, bound, true);
    if (bound > 0 && DeletionNeighborhoodIndex.knowsBeginnings(near.length, bound))
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

  /** Looks at all terms from an id on. */
  *#collectRest(from: number, near: Nearby): Steps<void> {
    for (let termId = from; termId < this.#terms.length; ) {
      termId = this.#collect(termId, near);
      if (workBudget.isOver()) yield;
    }
  }

  /** The order of most terms, which it begins, or continues to make for a while; null when there is none yet. */
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

  /** The index of most terms, which it makes or continues to make; null when there is none yet. */
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

  /** True when so many terms are in no index, of which the first `indexed` are, that a new one is due. */
  #isDue(indexed: number): boolean {
    return this.#terms.length - indexed > Math.max(unindexedTermsMin, indexed / unindexedShare);
  }

  /** Looks at the terms in the buckets of the word. */
  *#collectFrom(index: DeletionNeighborhoodIndex, near: Nearby): Steps<void> {
    const seen = new Set<number>();
    const cursor = index.near(near.word, near.bound);
    while (cursor.at.length > 0) {
      this.#collectNext(index, cursor, near, seen);
      if (workBudget.isOver()) yield;
    }
  }

  /** Looks at the next terms in the buckets, each once. */
  #collectNext(
    index: DeletionNeighborhoodIndex,
    cursor: NeighborhoodCursor,
    near: Nearby,
    seen: Set<number>,
  ): void {
    const { word, bound, isBeginning, matches } = near;
    const { count, looks } = index.read(cursor, near.filter, batchTermIds, workBudget.unitsPerLook);
    index.codes.read(batchTermIds, count, batchCodes);
    // Another search may have set its word between two calls.
    this.#distance.setWord(word);
    this.#codeDistance.setWord(word);
    const isSharp = isSharpWord(word);
    for (let at = 0; at < count; at += 1) {
      const termId = batchTermIds[at] ?? 0;
      const first = batchCodes.first[at] ?? 0;
      const atLeast = this.#codeDistance.atLeast(first, batchCodes.second[at] ?? 0, bound, isBeginning);
      if (atLeast > bound || seen.has(termId)) continue;
      seen.add(termId);
      const distance = isSharp && isSharpCode(first) ? atLeast : this.#distanceTo(this.termOf(termId), near);
      if (distance <= bound && this.#signatures[termId] !== goneSignature) matches[distance]?.push(termId);
    }
    workBudget.units += looks + candidateUnits * count;
  }

  /** Looks at the terms from an id on. @returns the id from which to go on */
  #collect(from: number, near: Nearby): number {
    const end = Math.min(this.#terms.length, from + unitsPerGo);
    // Another search may have set its word between two calls.
    this.#distance.setWord(near.word);
    // Units are counted here and added at the end, because the loop can be nearly all of a search with typos.
    const unitsMax = workBudget.unitsPerLook - workBudget.units;
    let units = 0;
    let at = from;
    while (at < end && units < unitsMax) {
      if (near.filter.passes(this.#signatures[at] ?? goneSignature)) units += this.#compare(at, near);
      at += 1;
    }
    workBudget.units += units + at - from;
    return at;
  }

  /** Notes the id of a term that is near. @returns the cost in units of the work budget */
  #compare(termId: number, near: Nearby): number {
    const term = this.termOf(termId);
    const distance = this.#distanceTo(term, near);
    if (distance <= near.bound) near.matches[distance]?.push(termId);
    return comparisonUnits * term.length;
  }

  #distanceTo(term: string, { bound, isBeginning }: Nearby): number {
    return isBeginning ? this.#distance.beginningWithin(term, bound) : this.#distance.within(term, bound);
  }

  /**
   * Visits the ids of terms until the budget is spent. `visit` returns the cost of a term, or -1 for a term to remove.
   * @param cursor where to continue; null at the beginning
   * @returns where to continue; null when every term was visited
   */
  sweep(cursor: SweepCursor | null, budget: number, visit: (termId: number) => number): SweepCursor | null {
    let left = budget;
    // It goes backwards, so that terms that come meanwhile are not visited.
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
   * Gives the terms ids without gaps when most are gone. Indexes and order do not know these.
   * @returns the former id of each; null when nothing was done
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
  /** Terms still to visit, from the front. */
  readonly remaining: number;
}

function nearby(word: string, bound: number, isBeginning: boolean): Nearby {
  const length = countCodePoints(word);
  const filter = new LetterSignatureFilter(word, bound, isBeginning);
  return { word, length, filter, bound, isBeginning, matches: [[], [], []] };
}
