import type { JsonObject } from '../../../src/contract/json.ts';
import { runSync, type Steps } from '../../../src/lib/cooperative-yield.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { Shard } from '../../../src/search/shard/shard.ts';

/** All items of an index, ordered by id. */
export const everything: CheckedQuery = {
  filter: null,
  search: null,
  facets: [],
  sort: [{ field: '_originId', order: 'asc' }],
  offset: 0,
  pageSize: 1000,
  after: null,
  fields: null,
  highlight: null,
  distinct: null,
};

export function facetOf(field: string, size = 10): CheckedQuery['facets'][number] {
  return { field, name: field, size, isValid: true };
}

/** A shard of items of one source, by their ids. */
export function shardOf(
  fields: Readonly<Record<string, FieldType>>,
  items: Readonly<Record<string, JsonObject>>,
): Shard {
  const shard = new Shard({ fields: new Map(Object.entries(fields)) });
  for (const [originId, values] of Object.entries(items)) {
    shard.upsert({ partition: 0, sourceId: 'source', originId, updatedAtMs: 1000, fields: values });
  }
  return shard;
}

/** The result of steps, without pauses. */
export function whole<T>(steps: Steps<T>): T {
  return runSync(steps);
}
