import { pace } from '../../lib/pace.ts';
import type { Stem } from '../analysis/stemmers.ts';
import { SegmentedMap } from '../segmented-map.ts';

/** The cost of finding the stem of a term, in units of the pace. */
const unitsPerStem = 1000;
/** Roughly what a stem takes, with the list of its terms. */
const bytesPerStem = 200;

/** The terms of a dictionary by their stems. */
export class StemTerms {
  readonly #stem: Stem;
  readonly #terms = new SegmentedMap<string, string[]>();

  constructor(stem: Stem) {
    this.#stem = stem;
  }

  get bytes(): number {
    return this.#terms.size * bytesPerStem;
  }

  /** Adds a term. The caller must add it only once. */
  add(term: string): void {
    pace.units += unitsPerStem;
    const stem = this.#stem(term);
    if (stem === null) return;
    const terms = this.#terms.get(stem);
    if (terms === undefined) this.#terms.add(stem, [term]);
    else terms.push(term);
  }

  remove(term: string): void {
    const stem = this.#stem(term);
    if (stem === null) return;
    const terms = this.#terms.get(stem) ?? [];
    const at = terms.indexOf(term);
    if (at >= 0) terms.splice(at, 1);
    if (terms.length === 0) this.#terms.remove(stem);
  }

  of(stem: string): readonly string[] {
    return this.#terms.get(stem) ?? [];
  }
}
