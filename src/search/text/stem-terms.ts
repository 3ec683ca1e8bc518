import { workBudget } from '../../lib/cooperative-yield.ts';
import type { Stem } from '../analysis/languages.ts';
import { IdTable } from '../id-table.ts';
import { PagedList, ValueList } from '../value-list.ts';

/** The cost of stemming a term, in units of the work budget. */
const unitsPerStem = 1000;
/** Approximate memory of a stem with the list of its terms, without its entry in the table. */
const bytesPerStem = 150;

/** The terms of a dictionary by their stems. */
export class StemTerms {
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
