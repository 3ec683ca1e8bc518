const noDocs: readonly number[] = [];

/**
 * Which docs have a term: a Map from terms to lists of doc ids.
 *
 * FlexSearch, which cuts texts into words (`words.ts`), does not hold them. Its `add` looks every word up again and makes
 * room for 17 docs where most terms have one: a worker took three times as long to fill its shards. Its removal looks for
 * a doc in each of its lists. Here dead docs stay in the lists, and a sweep filters whole lists when enough are dead.
 */
export class Postings {
  readonly #docsByTerm = new Map<string, number[]>();

  /**
   * @param terms distinct; the doc must not be under any of them
   * @returns those that no doc had before
   */
  add(doc: number, terms: readonly string[]): string[] {
    const added: string[] = [];
    for (const term of terms) {
      const docs = this.#docsByTerm.get(term);
      if (docs !== undefined) {
        docs.push(doc);
        continue;
      }
      this.#docsByTerm.set(term, [doc]);
      added.push(term);
    }
    return added;
  }

  /** The docs under a term, dead ones included: the live list, in no order to rely on. Only `add` and `keep` change it. */
  list(term: string): readonly number[] {
    return this.#docsByTerm.get(term) ?? noDocs;
  }

  /** Keeps the docs of a term that pass, and drops a term without docs. @returns how many there were, and are left */
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
    if (after === 0) this.#docsByTerm.delete(term);
    return { before, after };
  }
}
