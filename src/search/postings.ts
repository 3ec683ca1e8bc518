import { Index } from 'flexsearch';

/** What FlexSearch keeps inside and what `forget` and `drop` must reach. */
interface FlexInternals {
  readonly map: Map<string, number[][]>;
  readonly reg: Set<number>;
}

/**
 * Which docs have a term: FlexSearch as a strict posting store, over words that we made ourselves.
 *
 * Its own removal looks a doc up in each of its lists, which takes longer the more docs share a word. So nothing is
 * removed one by one: the text index lets dead ids stand, filters whole lists when enough are dead, and only then
 * calls `forget` for each id, after which the id may be used again.
 */
export class Postings {
  readonly #index: Index;
  readonly #internals: FlexInternals;
  #pending: string[] = [];

  constructor() {
    this.#index = new Index({
      tokenize: 'strict',
      // Its encoders split digits and fold letters; the words are ours, handed over beside the text.
      encode: () => this.#pending,
      // Without it FlexSearch keeps a list of lists for each doc, for the removal that we do not use.
      fastupdate: false,
      score: () => 0,
      resolution: 1,
    });
    this.#internals = internalsOf(this.#index);
  }

  has(term: string): boolean {
    return this.#internals.map.has(term);
  }

  /**
   * @param words distinct; the id must not be in the store
   * @returns those that the store did not have before
   */
  add(id: number, words: readonly string[]): string[] {
    const { map } = this.#internals;
    const known: string[] = [];
    const added: string[] = [];
    for (const word of words) (map.has(word) ? known : added).push(word);
    if (known.length > 0) {
      this.#pending = known;
      this.#index.add(id, 'words');
    }
    // Most terms stay with one doc. Lists made like this have room for one; those that FlexSearch makes, for 17, twice.
    for (const word of added) map.set(word, [[id]]);
    return added;
  }

  /** The ids under a term, dead ones included: FlexSearch's own list, in no order to rely on; only `keep` changes it. */
  list(term: string): readonly number[] {
    return this.#internals.map.get(term)?.[0] ?? noIds;
  }

  /** Keeps the ids of a term that pass; returns how many there were and how many are left. */
  keep(term: string, passes: (id: number) => boolean): { before: number; after: number } {
    const ids = this.#internals.map.get(term)?.[0] ?? [];
    const before = ids.length;
    let after = 0;
    for (let at = 0; at < before; at += 1) {
      const id = ids[at] ?? 0;
      if (!passes(id)) continue;
      ids[after] = id;
      after += 1;
    }
    ids.length = after;
    return { before, after };
  }

  /** Drops a term whose list is empty. */
  drop(term: string): void {
    this.#internals.map.delete(term);
  }

  /** Lets an id that no list holds any more be added again. */
  forget(id: number): void {
    this.#internals.reg.delete(id);
  }
}

const noIds: readonly number[] = [];

/** Fails at once should another release of FlexSearch keep its lists elsewhere. */
function internalsOf(index: Index): FlexInternals {
  const { map, reg } = index as unknown as Partial<FlexInternals>;
  if (!(map instanceof Map) || !(reg instanceof Set)) throw new Error('unknown layout of a FlexSearch index');
  return { map, reg };
}
