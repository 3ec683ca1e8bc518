/**
 * A search client for InstantSearch.js: `import { createSearchClient } from 'millrace/instantsearch'`. It only needs `fetch`
 * (docs/guide/search-page.md).
 */
import { Connection, type ConnectionOptions } from './connection.ts';
import { queryMany } from './queries.ts';
import { queryOfRequest, type SearchIndex, type SearchRequest } from './search-requests.ts';
import { resultOf, type SearchResult } from './search-results.ts';
import type { GroupItem, QueryResult } from './types.ts';

export { MillraceError } from './connection.ts';
export type * from './search-requests.ts';
export type * from './search-results.ts';

export interface SearchClientOptions extends Pick<ConnectionOptions, 'url' | 'retries' | 'fetch'> {
  /** API key of an environment client with the scope `query`. */
  readonly key: string;
  /** Names that a page uses for indexes, such as `cities-by-size`. Other names are aliases of indexes. */
  readonly indexes?: Readonly<Record<string, SearchIndex>>;
}

export interface SearchClient {
  /** @throws MillraceError; TypeError for a parameter that is not supported */
  search(requests: readonly SearchRequest[]): Promise<{ results: SearchResult[] }>;
}

export function createSearchClient({ indexes = {}, ...options }: SearchClientOptions): SearchClient {
  const connection = new Connection(options);
  const statistics = new KnownStatistics();
  return {
    async search(requests) {
      const startMs = performance.now();
      const asked = requests.map(({ indexName, params = {} }, at) => {
        const target = Object.hasOwn(indexes, indexName) ? indexes[indexName] : undefined;
        const { index, ...more } = target ?? { index: indexName };
        const query = queryOfRequest(params, { index, ...more }, (field) => statistics.of(index, field));
        return { indexName, params, query: { ...query, index, name: `${at}` } };
      });
      const answers = await queryMany(
        connection,
        asked.map(({ query }) => query),
      );
      const milliseconds = Math.round(performance.now() - startMs);
      const results = asked.map(({ indexName, params, query }) => {
        const answer = answers[query.name] as QueryResult<GroupItem>;
        statistics.learn(query.index, answer);
        return resultOf(indexName, params, answer, milliseconds);
      });
      return { results };
    },
  };
}

/** Knows which fields of indexes have statistics. */
class KnownStatistics {
  readonly #fields = new Map<string, boolean>();

  of(index: string, field: string): boolean | undefined {
    return this.#fields.get(`${index}/${field}`);
  }

  learn(index: string, { facets }: QueryResult<GroupItem>): void {
    for (const field of new Set(facets.map((facet) => facet.field))) {
      const valid = facets.filter((facet) => facet.field === field && facet.isValid);
      const hasStats = valid.some(({ stats }) => stats !== undefined);
      // If a field has changed its type, its facet is requested both ways again.
      if (valid.length === 0) this.#fields.delete(`${index}/${field}`);
      else this.#fields.set(`${index}/${field}`, hasStats);
    }
  }
}
