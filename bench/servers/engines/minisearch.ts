/**
 * MiniSearch 7 with our words, so that it finds the same. It has no sorting and no facets, so these are written around
 * it.
 */
import { allowedDistance, wordsOf } from '../../../src/search/analysis/words.ts';
import type { Item } from '../../support/data/items.ts';
import { requirePeer } from '../../support/peers.ts';
import { type BenchQuery, filterOf, pageSizeOf } from '../../support/query/kinds.ts';
import { topGroups } from '../../support/query/plain-scan.ts';
import { type Engine, type EngineAnswer, rowText } from './engine.ts';

interface Hit {
  readonly id: number;
}

interface SearchOptions {
  readonly fuzzy?: (term: string) => number | false;
  readonly prefix?: boolean;
  readonly filter?: (hit: Hit) => boolean;
}

interface MiniSearchIndex {
  addAll(documents: readonly { id: number; text: string }[]): void;
  search(query: string | symbol, options: SearchOptions): readonly Hit[];
}

interface MiniSearchModule {
  new (options: Readonly<Record<string, unknown>>): MiniSearchIndex;
  readonly wildcard: symbol;
}

export class MiniSearchEngine implements Engine {
  private readonly library: MiniSearchModule = requirePeer('minisearch');
  private readonly index = new this.library({
    fields: ['text'],
    storeFields: [],
    tokenize: wordsOf,
    processTerm: (term: string) => term,
    searchOptions: { combineWith: 'OR', prefix: false },
  });
  private items: readonly Item[] = [];
  private rows: readonly string[] = [];

  async load(items: readonly Item[]): Promise<void> {
    this.items = items;
    this.rows = items.map(rowText);
    this.index.addAll(items.map(({ text }, id) => ({ id, text })));
  }

  answer(query: BenchQuery): EngineAnswer {
    const hits = this.hitsOf(query);
    const sorted = query.sort === undefined ? hits : hits.toSorted((a, b) => this.sizeOf(b) - this.sizeOf(a));
    return {
      total: hits.length,
      rows: sorted.slice(0, pageSizeOf(query)).map(({ id }) => this.rows[id] ?? ''),
      facet: query.facets === undefined ? null : this.countCategories(hits),
    };
  }

  private hitsOf(query: BenchQuery): readonly Hit[] {
    const { search } = query;
    const { above } = filterOf(query);
    const filter = ({ id }: Hit) => {
      const item = this.items[id];
      return item !== undefined && item.category === above?.category && item.size > above.size;
    };
    const fuzzy = (term: string) => (search?.literal === false ? allowedDistance(term) : false);
    const prefix = search?.prefix === true;
    const options = { fuzzy, prefix, ...(above === null ? {} : { filter }) };
    return this.index.search(search?.value ?? this.library.wildcard, options);
  }

  private countCategories(hits: readonly Hit[]): [string, number][] {
    const counts = new Map<string, number>();
    for (const { id } of hits) {
      const category = this.items[id]?.category ?? '';
      counts.set(category, (counts.get(category) ?? 0) + 1);
    }
    return topGroups(counts);
  }

  private sizeOf({ id }: Hit): number {
    return this.items[id]?.size ?? 0;
  }
}
