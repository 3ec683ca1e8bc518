/**
 * Orama 3 with our words. It has one tolerance for all words of a query. Whole words need `exact`; without it, it finds
 * prefixes.
 */
import { allowedDistance, wordsOf } from '../../../src/search/analysis/words.ts';
import type { Item } from '../../support/data/items.ts';
import { requirePeer } from '../../support/peers.ts';
import { type BenchQuery, type Circle, filterOf, pageSizeOf } from '../../support/query/kinds.ts';
import { topGroups } from '../../support/query/plain-scan.ts';
import { type Engine, type EngineAnswer, rowText } from './engine.ts';

interface OramaAnswer {
  readonly count: number;
  readonly hits: readonly { readonly id: string }[];
  readonly facets?: { readonly category?: { readonly values: Readonly<Record<string, number>> } };
}

interface OramaModule {
  create(options: Readonly<Record<string, unknown>>): unknown;
  insertMultiple(index: unknown, documents: readonly object[], batchSize: number): Promise<unknown>;
  search(index: unknown, query: Readonly<Record<string, unknown>>): OramaAnswer | Promise<OramaAnswer>;
}

const batchSize = 1_000;

export class OramaEngine implements Engine {
  private readonly library: OramaModule = requirePeer('@orama/orama');
  private readonly index = this.library.create({
    schema: { text: 'string', category: 'enum', size: 'number', place: 'geopoint' },
    components: {
      tokenizer: {
        language: 'english',
        normalizationCache: new Map(),
        tokenize: (text: string) => wordsOf(text),
      },
    },
  });
  private rows = new Map<string, string>();

  async load(items: readonly Item[]): Promise<void> {
    this.rows = new Map(items.map((item) => [item.id, rowText(item)]));
    // `exact` searches the word in the original text, so the text must consist of our words too.
    const documents = items.map(({ id, text, category, size, place }) => ({
      id,
      text: wordsOf(text).join(' '),
      category,
      size,
      ...(place === undefined ? {} : { place }),
    }));
    await this.library.insertMultiple(this.index, documents, batchSize);
  }

  async answer(query: BenchQuery): Promise<EngineAnswer> {
    const { search, sort, facets } = query;
    const { above, circle } = filterOf(query);
    const words = search === undefined ? [] : wordsOf(search.value);
    const {
      count,
      hits,
      facets: counted,
    } = await this.library.search(this.index, {
      term: search?.value ?? '',
      properties: ['text'],
      limit: pageSizeOf(query),
      ...(search?.literal === true && search.prefix !== true ? { exact: true } : {}),
      ...(search?.literal === false ? { tolerance: Math.max(...words.map(allowedDistance)) } : {}),
      ...(above === null ? {} : { where: { category: { eq: above.category }, size: { gt: above.size } } }),
      // Items near a place are ordered by distance.
      ...(circle === null ? {} : { where: { place: { radius: radiusOf(circle) } } }),
      ...(sort === undefined || circle !== null ? {} : { sortBy: { property: 'size', order: 'DESC' } }),
      ...(facets === undefined ? {} : { facets: { category: {} } }),
    });
    return {
      total: count,
      rows: hits.map(({ id }) => this.rows.get(id) ?? ''),
      facet:
        facets === undefined ? null : topGroups(new Map(Object.entries(counted?.category?.values ?? {}))),
    };
  }
}

function radiusOf({ lat, lon, meters }: Circle): object {
  return { coordinates: { lat, lon }, unit: 'm', value: meters, inside: true };
}
