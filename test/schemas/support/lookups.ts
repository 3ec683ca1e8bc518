import assert from 'node:assert/strict';
import type { StoredEntity } from '../../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { type FilterNode, QueryValues } from '../../../src/schemas/filter/node.ts';
import { FilterParser } from '../../../src/schemas/filter/parser.ts';
import { Reader } from '../../../src/schemas/language/reader.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { type LookupQuery, layoutOf } from '../../../src/schemas/lookup-layout.ts';
import type { FullSchema } from '../../../src/schemas/schema.ts';
import { answer, compileValid, entityOf, inputOf, schemaOf } from './fixtures.ts';

export function lookupSchema(lookup: Json): Json {
  return schemaOf({ found: { type: 'array', input: { $lookup: lookup }, items: '{item.originId}' } });
}

/** A schema with one `$lookup`. */
export function compiledLookup(lookup: Json): FullSchema {
  const schema = compileValid({ schemas: { view: lookupSchema(lookup) } }).schemas.get('view');
  assert.ok(schema);
  return schema;
}

/** The query that the schema creates for an entity. */
export function queryOf(schema: FullSchema, asking: StoredEntity): LookupQuery {
  const [query] = finish(schema.build(inputOf(asking))).lookups;
  assert.ok(query);
  return query;
}

/** The originIds that a lookup finds among `stored`, through the index. */
export function find(lookup: Json, stored: readonly StoredEntity[], asking: JsonObject = {}): string[] {
  const schema = compiledLookup(lookup);
  const query = queryOf(schema, entityOf(asking));
  return answer(query, layoutOf(schema.lookupPlans), stored).map((entity) => entity.originId);
}

/** A filter's condition, and the values that its operands refer to. */
export function parseFilter(text: string): { node: FilterNode; values: QueryValues } {
  const values = new QueryValues();
  return { node: new FilterParser(new Reader(text), Scope.entity, values).parseWhole(), values };
}
