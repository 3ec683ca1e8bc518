import type { Stem } from '../analysis/stemmers.ts';
import type { Bitmap } from '../bitmap.ts';
import { pace, type Steps } from '../pace.ts';
import { Postings } from './postings.ts';
import { StemTerms } from './stem-terms.ts';
import { type SweepCursor, TermDictionary, type TermMatch } from './term-dictionary.ts';

/** The cost of looking up a term, in units of the pace. */
const unitsPerTerm = 100;

/** A term near a word that was asked for. */
export interface NearTerm {
  readonly distance: number;
  /** Docs that have the term, dead ones included. It is the list of the postings, which must neither be changed nor kept. */
  readonly docs: readonly number[];
}

/** The inverted index of one text field: its terms, and the docs that have them. */
export class TextIndex {
  readonly #terms = new TermDictionary();
  readonly #postings = new Postings();
  /** Null: the words have no stems. */
  readonly #stems: StemTerms | null;
  #postingCount = 0;
  #cursor: SweepCursor | null = null;

  constructor(stem: Stem | null = null) {
    this.#stems = stem && new StemTerms(stem);
  }

  get termCount(): number {
    return this.#terms.size;
  }

  /** Postings, those of dead docs included. */
  get postingCount(): number {
    return this.#postingCount;
  }

  /** A rough figure for metrics: 8 bytes for each posting, and about 130 for each term with its text. */
  get bytes(): number {
    return this.#terms.bytes + this.#postingCount * 8 + this.#terms.size * 130 + (this.#stems?.bytes ?? 0);
  }

  /** @param words must be distinct. The doc must be new to this field, or swept out of it */
  add(doc: number, words: readonly string[]): void {
    for (const term of this.#postings.add(doc, words)) {
      this.#terms.add(term);
      this.#stems?.add(term);
    }
    this.#postingCount += words.length;
  }

  /** The docs that have a term, dead ones included. */
  docsOf(term: string): readonly number[] {
    return this.#postings.list(term);
  }

  /** The docs of each term with a stem, dead ones included. */
  docsOfStem(stem: string): (readonly number[])[] {
    return (this.#stems?.of(stem) ?? []).map((term) => this.#postings.list(term));
  }

  /** Terms within a distance of a word, the nearest first. */
  *expand(word: string, bound: number): Steps<readonly NearTerm[]> {
    if (bound === 0) return [{ distance: 0, docs: this.#postings.list(word) }];
    return yield* this.#withDocs(yield* this.#terms.within(word, bound));
  }

  /** Terms of which some beginning is within a distance of a word, the nearest first. */
  *expandBeginning(word: string, bound: number): Steps<readonly NearTerm[]> {
    return yield* this.#withDocs(yield* this.#terms.beginningWithin(word, bound));
  }

  *#withDocs(terms: readonly TermMatch[]): Steps<readonly NearTerm[]> {
    const near: NearTerm[] = [];
    for (const { term, distance } of terms) {
      near.push({ distance, docs: this.#postings.list(term) });
      pace.units += unitsPerTerm;
      if (pace.isOver()) yield;
    }
    return near;
  }

  /** Takes dead docs out of the lists, about `budget` postings of work. @returns whether no list has any left */
  sweep(dead: Bitmap, budget: number): boolean {
    this.#cursor = this.#terms.sweep(this.#cursor, budget, (term) => {
      const { before, after } = this.#postings.keep(term, (doc) => !dead.has(doc));
      this.#postingCount -= before - after;
      if (after === 0) this.#stems?.remove(term);
      return after > 0 ? before : -1;
    });
    return this.#cursor === null;
  }
}
