/** A shard in the benchmark's own process. */
import { checkQuery } from '../../../src/search/check/query.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import type { Item } from '../data/items.ts';
import type { LoadResult } from '../load/wrk.ts';
import { quantile } from '../report/statistics.ts';
import type { BenchQuery, ExpectedQuery } from './kinds.ts';

/** Types of the items' fields in the index schema. */
export const schemaFields: ReadonlyMap<string, FieldType> = new Map([
  ['name', 'keyword'],
  ['text', 'text'],
  ['category', 'keyword'],
  ['size', 'long'],
]);

/** Types as auto-indexing determines them (docs/reference/indexes-and-queries.md "Auto-indexed source groups"). */
export const autoFields: ReadonlyMap<string, FieldType> = new Map([
  ['name', 'keywordText'],
  ['text', 'keywordText'],
  ['category', 'keywordText'],
  ['size', 'double'],
]);

export class DirectShard {
  private readonly shard: Shard;
  private readonly queries: readonly CheckedQuery[];

  /**
   * @param timed the queries to measure
   * @throws Error when a total is not the expected one
   */
  constructor(
    items: readonly Item[],
    timed: readonly BenchQuery[],
    checked: readonly ExpectedQuery[],
    fields: ReadonlyMap<string, FieldType> = schemaFields,
  ) {
    this.shard = new Shard({ fields });
    for (const { id, name, text, category, size } of items) {
      const rest = { name, text, category, size };
      this.shard.upsert({ partition: 0, sourceId: 'source', originId: id, updatedAtMs: 0, fields: rest });
    }
    const parse = (query: BenchQuery): CheckedQuery => {
      const result = checkQuery(JSON.parse(JSON.stringify(query)), {
        fields,
        isOpen: false,
        isSchemaAlias: null,
      });
      if (!result.ok) throw new Error(result.errors.join(', '));
      return result.query;
    };
    for (const { query, expected } of checked) {
      if (this.shard.query(parse(query)).total !== expected.total)
        throw new Error('the shard returns a wrong total');
    }
    this.queries = timed.map(parse);
  }

  /** Runs the queries one after the other. @param skipped number of queries to skip at the beginning */
  measure(seconds: number, skipped: number): LoadResult {
    const latenciesMs: number[] = [];
    const startedMs = performance.now();
    const endMs = startedMs + seconds * 1000;
    let nowMs = startedMs;
    for (let at = skipped; nowMs < endMs; at += 1) {
      const query = this.queries[at % this.queries.length];
      if (query !== undefined) this.shard.query(query);
      const afterMs = performance.now();
      latenciesMs.push(afterMs - nowMs);
      nowMs = afterMs;
    }
    return {
      requestsPerSecond: latenciesMs.length / ((nowMs - startedMs) / 1000),
      p50Ms: quantile(latenciesMs, 0.5),
      p99Ms: quantile(latenciesMs, 0.99),
      failed: 0,
    };
  }
}
