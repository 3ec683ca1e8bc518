import { Index } from 'flexsearch';

/** What FlexSearch keeps inside and what `add`, `keep` and `drop` must reach. */
interface FlexInternals {
  readonly map: Map<string, number[][]>;
}

/**
 * Which docs have a term: the lists of a FlexSearch index, over words that we made ourselves.
 *
 * Its own `add` looks every word up again, checks ids that are known to be new and makes room for 17 docs where most
 * terms stay with one: three times the work of a worker that fills its shards. Its own removal looks a doc up in each
 * of its lists, which takes longer the more docs share a word. So ids are put into its lists in place, and nothing is
 * removed one by one: the text index lets dead ids stand and filters whole lists when enough are dead.
 */
export class Postings {
  readonly #map: FlexInternals['map'];

  constructor() {
    this.#map = internalsOf(
      new Index({
        tokenize: 'strict',
        // Without it FlexSearch keeps a list of lists for each doc, for the removal that we do not use.
        fastupdate: false,
        // One slot a term: what ranks is made by `score.ts`.
        resolution: 1,
      }),
    ).map;
  }

  /**
   * @param words distinct; the id must not be under any of them
   * @returns those that the store did not have before
   */
  add(id: number, words: readonly string[]): string[] {
    const map = this.#map;
    const added: string[] = [];
    for (const word of words) {
      const ids = map.get(word)?.[0];
      if (ids !== undefined) {
        ids.push(id);
        continue;
      }
      map.set(word, [[id]]);
      added.push(word);
    }
    return added;
  }

  /**
   * The ids under a term, dead ones included: FlexSearch's own list, in no order to rely on, the same one until the term is
   * dropped. Only `add` and `keep` change it.
   */
  list(term: string): readonly number[] {
    return this.#map.get(term)?.[0] ?? noIds;
  }

  /** Keeps the ids of a term that pass; returns how many there were and how many are left. */
  keep(term: string, passes: (id: number) => boolean): { before: number; after: number } {
    const ids = this.#map.get(term)?.[0] ?? [];
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
    this.#map.delete(term);
  }
}

const noIds: readonly number[] = [];

/** Fails at once should another release of FlexSearch keep its lists elsewhere. */
function internalsOf(index: Index): FlexInternals {
  const { map } = index as unknown as Partial<FlexInternals>;
  if (!(map instanceof Map)) throw new Error('unknown layout of a FlexSearch index');
  return { map };
}
