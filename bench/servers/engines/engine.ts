/** The interface of a search engine that answers the queries of the benchmarks behind the common front. */

import type { Item } from '../../support/data/items.ts';
import type { BenchQuery } from '../../support/query/kinds.ts';

export interface EngineAnswer {
  readonly total: number;
  /** JSON texts of the items of the first page. */
  readonly rows: readonly string[];
  readonly facet: readonly (readonly [value: string, count: number])[] | null;
}

export interface Engine {
  load(items: readonly Item[]): Promise<void>;
  answer(query: BenchQuery): EngineAnswer | Promise<EngineAnswer>;
}

/** An item as it is sent to clients. */
export function rowText({ id, ...fields }: Item): string {
  return JSON.stringify({ _originId: id, ...fields });
}
