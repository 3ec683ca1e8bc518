import { shardSliceMs } from '../../contract/limits.ts';
import { workBudget } from '../../lib/cooperative-yield.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { Stem } from '../analysis/languages.ts';
import type { Bitmap } from '../bitmap.ts';
import { IdTable } from '../id-table.ts';
import { type PartReader, type Parts, uint32 } from '../snapshot/parts.ts';
import { PagedList, ValueList } from '../value-list.ts';
import { Postings } from './postings.ts';
import { type SweepCursor, TermDictionary } from './term-dictionary.ts';

/** The cost of stemming a term, in units of the work budget. */
const unitsPerStem = 1000;
/** Approximate memory of a stem with the list of its terms, without its entry in the table. */
const bytesPerStem = 150;

/** The terms of a dictionary by their stems. */
class StemTerms {
  readonly #stem: Stem;
  /** The stems by id; undefined for removed ones. */
  readonly #stems = new ValueList<string>();
  /** The terms of each stem, by its id. */
  readonly #terms = new PagedList<string[]>();
  readonly #ids = new IdTable(this.#stems);
  readonly #free: number[] = [];

  constructor(stem: Stem) {
    this.#stem = stem;
  }

  get bytes(): number {
    return this.#ids.bytes + this.#ids.size * bytesPerStem;
  }

  /** Adds a term. The caller must add it only once. */
  add(term: string): void {
    workBudget.units += unitsPerStem;
    const stem = this.#stem(term);
    if (stem === null) return;
    const id = this.#ids.find(stem);
    if (id < 0) this.#addStem(stem, term);
    else this.#terms.at(id)?.push(term);
  }

  remove(term: string): void {
    const stem = this.#stem(term);
    if (stem === null) return;
    const id = this.#ids.find(stem);
    const terms = this.#terms.at(id) ?? [];
    const at = terms.indexOf(term);
    if (at < 0) return;
    terms.splice(at, 1);
    if (terms.length > 0) return;
    this.#ids.remove(stem, id);
    this.#stems.set(id, undefined);
    this.#free.push(id);
  }

  of(stem: string): readonly string[] {
    return this.#terms.at(this.#ids.find(stem)) ?? [];
  }

  #addStem(stem: string, term: string): void {
    const id = this.#free.pop() ?? this.#newId();
    this.#ids.add(stem, id);
    this.#stems.set(id, stem);
    this.#terms.set(id, [term]);
  }

  #newId(): number {
    this.#stems.push(undefined);
    return this.#stems.length - 1;
  }
}

/** The cost of looking up a term, in units of the work budget. */
const unitsPerTerm = 100;
/** Approximate memory of the text of a term. */
const bytesPerTerm = 40;

/** The inverted index of a text field: its terms with their ids, and the docs of each term. */
export class TextIndex {
  /** Searches read `terms` and `postings` and change neither. */
  readonly terms = new TermDictionary();
  /** By term id. */
  readonly postings = new Postings();
  /** Null: no stemming. */
  readonly #stems: StemTerms | null;
  #postingCount = 0;
  #cursor: SweepCursor | null = null;

  constructor(stem: Stem | null = null) {
    this.#stems = stem && new StemTerms(stem);
  }

  get termCount(): number {
    return this.terms.size;
  }

  /** Number of postings, including those of dead docs. */
  get postingCount(): number {
    return this.#postingCount;
  }

  /** An estimate for metrics. */
  get bytes(): number {
    const ofTerms = this.terms.bytes + this.terms.size * bytesPerTerm;
    return ofTerms + this.postings.bytes + (this.#stems?.bytes ?? 0);
  }

  *parts(): Parts {
    yield* this.terms.parts();
    yield* this.postings.parts();
    yield Uint32Array.of(this.#postingCount);
  }

  async restore(from: PartReader): Promise<void> {
    await this.terms.restore(from);
    await this.postings.restore(from);
    [this.#postingCount = 0] = await from.numbers(uint32);
    const stems = this.#stems;
    if (stems !== null) await new Slice(shardSliceMs).run(this.terms.all((term) => stems.add(term)));
  }

  /** Adds an occurrence of a word in a doc, which must at first be new to the field or swept out of it. */
  add(doc: number, word: string): void {
    const { end } = this.terms;
    const termId = this.terms.findOrAdd(word);
    if (termId === end) this.#stems?.add(word);
    if (this.postings.add(termId, doc)) this.#postingCount += 1;
  }

  /** The ids of terms with a stem. */
  termIdsOfStem(stem: string): readonly number[] {
    const terms = this.#stems?.of(stem) ?? [];
    workBudget.units += unitsPerTerm * terms.length;
    return terms.flatMap((term) => this.terms.termIdsOf(term));
  }

  /** Removes dead docs from the lists, about `budget` postings of work. @returns true if no list has any left */
  sweep(dead: Bitmap, budget: number): boolean {
    this.#cursor = this.terms.sweep(this.#cursor, budget, (termId) => {
      const { before, after } = this.postings.keep(termId, (doc) => !dead.has(doc));
      this.#postingCount -= before - after;
      if (after === 0) this.#stems?.remove(this.terms.termOf(termId));
      return after > 0 ? before : -1;
    });
    if (this.#cursor !== null) return false;
    const kept = this.terms.clearAway();
    if (kept !== null) this.postings.renumber(kept);
    return true;
  }
}
