import { pace } from '../../lib/pace.ts';
import type { Stem } from '../analysis/stemmers.ts';
import { PagedList } from '../paged-list.ts';
import { PlaceTable } from '../place-table.ts';
import { ValueList } from '../value-list.ts';

/** The cost of finding the stem of a term, in units of the pace. */
const unitsPerStem = 1000;
/** Roughly what a stem takes, with the list of its terms, besides its entry in the table. */
const bytesPerStem = 150;

/** The terms of a dictionary by their stems. */
export class StemTerms {
  readonly #stem: Stem;
  /** The stems, each at a place; undefined where one is gone. */
  readonly #stems = new ValueList<string>();
  /** The terms of each stem, at its place. */
  readonly #terms = new PagedList<string[]>();
  readonly #places = new PlaceTable(this.#stems);
  readonly #free: number[] = [];

  constructor(stem: Stem) {
    this.#stem = stem;
  }

  get bytes(): number {
    return this.#places.bytes + this.#places.size * bytesPerStem;
  }

  /** Adds a term. The caller must add it only once. */
  add(term: string): void {
    pace.units += unitsPerStem;
    const stem = this.#stem(term);
    if (stem === null) return;
    const place = this.#places.find(stem);
    if (place < 0) this.#addStem(stem, term);
    else this.#terms.at(place)?.push(term);
  }

  remove(term: string): void {
    const stem = this.#stem(term);
    if (stem === null) return;
    const place = this.#places.find(stem);
    const terms = this.#terms.at(place) ?? [];
    const at = terms.indexOf(term);
    if (at < 0) return;
    terms.splice(at, 1);
    if (terms.length > 0) return;
    this.#places.remove(stem, place);
    this.#stems.set(place, undefined);
    this.#free.push(place);
  }

  of(stem: string): readonly string[] {
    return this.#terms.at(this.#places.find(stem)) ?? [];
  }

  #addStem(stem: string, term: string): void {
    const place = this.#free.pop() ?? this.#newPlace();
    this.#places.add(stem, place);
    this.#stems.set(place, stem);
    this.#terms.set(place, [term]);
  }

  #newPlace(): number {
    this.#stems.push(undefined);
    return this.#stems.length - 1;
  }
}
