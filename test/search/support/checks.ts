import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { checkQuery, type QueryRules } from '../../../src/search/check/query.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import { allTypes } from './arbitraries.ts';

export const closed = { fields: allTypes, isOpen: false, isSchemaAlias: (alias: string) => alias === 'page' };
export const open = { fields: allTypes, isOpen: true, isSchemaAlias: null };

export function closedTo(fields: QueryRules['fields']): QueryRules {
  return { fields, isOpen: false, isSchemaAlias: null };
}

export function errorsOf(body: Json, rules: QueryRules = closed): readonly string[] {
  const result = checkQuery(body, rules);
  return result.ok ? [] : result.errors;
}

/** A valid query, checked. */
export function queryOf(body: Json, rules: QueryRules = closed): CheckedQuery {
  const result = checkQuery(body, rules);
  assert.ok(result.ok, result.ok ? '' : result.errors.join('\n'));
  return result.query;
}

export function condition(field: string, operator: string, value: Json): JsonObject {
  return { filters: { and: [{ field, operator, value }] } };
}
