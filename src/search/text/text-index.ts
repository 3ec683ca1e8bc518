import type { Bitmap } from '../bitmap.ts';
import { chain, type Maybe, mapInTurn, pace } from '../pace.ts';
import { Postings } from './postings.ts';
import { type SweepCursor, TermDictionary } from './term-dictionary.ts';

const expansionsMax = 256;
/** Longer expansions are not remembered, to keep their memory small. */
const expansionTermsMax = 500;
/** What it takes to look a term up, in units of the pace. */
const unitsPerTerm = 100;

/** A term near a word that was asked for. */
export interface NearTerm {
  readonly distance: number;
  /** Docs that have the term, dead ones among them: the live list, which is not to be changed nor kept for long. */
  readonly docs: readonly number[];
}

const noTerms: readonly NearTerm[] = [];

/** The inverted index of one text field: its terms, and the docs that have them. */
export class TextIndex {
  readonly #terms = new TermDictionary();
  readonly #postings = new Postings();
  #postingCount = 0;
  #cursor: SweepCursor | null = null;
  /** Expansions of words that were asked for since terms last came or went; until then a term has the same list. */
  readonly #expansions = new Map<string, readonly NearTerm[]>();

  get termCount(): number {
    return this.#terms.size;
  }

  /** Postings, those of dead docs included. */
  get postingCount(): number {
    return this.#postingCount;
  }

  /** Rough, for metrics: FlexSearch keeps 8 bytes a posting and about 150 a term with its text. */
  get bytes(): number {
    return this.#terms.bytes + this.#postingCount * 8 + this.#terms.size * 150;
  }

  /** @param words distinct; the doc must be new to this field, or swept out of it */
  add(doc: number, words: readonly string[]): void {
    if (words.length === 0) return;
    const added = this.#postings.add(doc, words);
    for (const term of added) this.#terms.add(term);
    if (added.length > 0 && this.#expansions.size > 0) this.#expansions.clear();
    this.#postingCount += words.length;
  }

  /** Terms within a distance of a word, the nearest first. */
  expand(word: string, bound: number): Maybe<readonly NearTerm[]> {
    if (bound === 0) {
      const docs = this.#postings.list(word);
      return docs.length === 0 ? noTerms : [{ distance: 0, docs }];
    }
    const key = `${bound}${word}`;
    const known = this.#expansions.get(key);
    if (known !== undefined) return known;
    const found = chain(this.#terms.within(word, bound), (terms) =>
      mapInTurn(terms, ({ term, distance }): NearTerm => {
        pace.units += unitsPerTerm;
        return { distance, docs: this.#postings.list(term) };
      }),
    );
    return chain(found, (matches) => {
      if (this.#expansions.size === expansionsMax) this.#expansions.clear();
      if (matches.length <= expansionTermsMax) this.#expansions.set(key, matches);
      return matches;
    });
  }

  /** Takes dead docs out of the lists, about `budget` postings of work; true when no list has any left. */
  sweep(dead: Bitmap, budget: number): boolean {
    this.#cursor = this.#terms.sweep(this.#cursor, budget, (term) => {
      const { before, after } = this.#postings.keep(term, (doc) => !dead.has(doc));
      this.#postingCount -= before - after;
      if (after > 0) return before;
      this.#postings.drop(term);
      this.#expansions.clear();
      return -1;
    });
    return this.#cursor === null;
  }
}
