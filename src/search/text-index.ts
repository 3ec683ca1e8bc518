import type { Bitmap } from './bitmap.ts';
import { Postings } from './postings.ts';
import { type SweepCursor, TermDictionary, type TermMatch } from './term-dictionary.ts';

/** The inverted index of one text field: its terms, and the docs that have them. */
export class TextIndex {
  readonly #terms = new TermDictionary();
  readonly #postings = new Postings();
  #postingCount = 0;
  #termUnits = 0;
  #cursor: SweepCursor | null = null;

  get termCount(): number {
    return this.#terms.size;
  }

  /** Postings, those of dead docs included. */
  get postingCount(): number {
    return this.#postingCount;
  }

  /** Rough, for metrics: FlexSearch keeps 8 bytes a posting and about 130 a term beside its text. */
  get bytes(): number {
    return this.#terms.bytes + this.#postingCount * 8 + this.#terms.size * 130 + this.#termUnits;
  }

  /** @param words distinct; the doc must be new to this field, or forgotten by `finishSweep` */
  add(doc: number, words: string[]): void {
    if (words.length === 0) return;
    for (const word of words) {
      if (this.#postings.has(word)) continue;
      this.#terms.add(word);
      this.#termUnits += word.length;
    }
    this.#postings.add(doc, words);
    this.#postingCount += words.length;
  }

  /** Terms within a distance of a word, the nearest first. */
  expand(word: string, bound: number): readonly TermMatch[] {
    if (bound > 0) return this.#terms.within(word, bound);
    return this.#postings.has(word) ? [{ term: word, distance: 0 }] : [];
  }

  /** Docs that have the term; dead ones may be among them. */
  docs(term: string): readonly number[] {
    return this.#postings.list(term);
  }

  /** Takes dead docs out of the lists, about `budget` postings of work; true when no list has any left. */
  sweep(dead: Bitmap, budget: number): boolean {
    this.#cursor = this.#terms.sweep(this.#cursor, budget, (term) => {
      const { before, after } = this.#postings.keep(term, (doc) => !dead.has(doc));
      this.#postingCount -= before - after;
      if (after > 0) return before;
      this.#postings.drop(term);
      this.#termUnits -= term.length;
      return -1;
    });
    return this.#cursor === null;
  }

  /** After a whole sweep: the doc's id may be added again. */
  forget(doc: number): void {
    this.#postings.forget(doc);
  }
}
