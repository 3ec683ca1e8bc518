import { SegmentedMap } from '../segmented-map.ts';

const noDocs: readonly number[] = [];

/**
 * Knows which docs have a term: a map from terms to lists of doc ids. Why it is not FlexSearch's index is told in
 * docs/design/search.md. Dead docs stay in the lists, and a sweep filters whole lists when enough docs are dead.
 */
export class Postings {
  readonly #docsByTerm = new SegmentedMap<string, number[]>();

  /**
   * @param terms must be distinct, and the doc must not be under any of them
   * @returns the terms that no doc had before
   */
  add(doc: number, terms: readonly string[]): string[] {
    const added: string[] = [];
    for (const term of terms) {
      const docs = this.#docsByTerm.get(term);
      if (docs !== undefined) {
        docs.push(doc);
        continue;
      }
      this.#docsByTerm.add(term, [doc]);
      added.push(term);
    }
    return added;
  }

  /**
   * The docs under a term, dead ones included, in no certain order. It is the list itself, which `add` and `keep`
   * change.
   */
  list(term: string): readonly number[] {
    return this.#docsByTerm.get(term) ?? noDocs;
  }

  /** Keeps the docs of a term that pass, and drops a term without docs. @returns numbers of docs before and after */
  keep(term: string, passes: (doc: number) => boolean): { before: number; after: number } {
    const docs = this.#docsByTerm.get(term) ?? [];
    const before = docs.length;
    let after = 0;
    for (let at = 0; at < before; at += 1) {
      const doc = docs[at] ?? 0;
      if (!passes(doc)) continue;
      docs[after] = doc;
      after += 1;
    }
    docs.length = after;
    if (after === 0) this.#docsByTerm.remove(term);
    return { before, after };
  }
}
