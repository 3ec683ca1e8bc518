import type { Json } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { searchCodePointsMax } from '../../contract/limits.ts';
import { countCodePoints } from '../../lib/code-points.ts';
import type { CheckedQuery } from '../checked-query.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { type Mistakes, quote } from './mistakes.ts';

/** Checks the search of a query, null for none (docs/reference/indexes-and-queries.md "Search"). */
export function checkSearch(search: Json, table: FieldTable, mistakes: Mistakes): CheckedQuery['search'] {
  if (search === null) return null;
  if (!isJsonObject(search)) {
    mistakes.add('search', `must be {"field", "value"}, not ${quote(search)}`);
    return null;
  }
  const field = getOwn(search, 'field') ?? null;
  const value = getOwn(search, 'value') ?? null;
  const literal = getOwn(search, 'literal') ?? false;
  checkSearchField(field, table, mistakes);
  checkSearchValue(value, mistakes);
  if (typeof literal !== 'boolean') {
    mistakes.add('search.literal', `must be true or false, not ${quote(literal)}`);
  }
  if (typeof field !== 'string' || typeof value !== 'string') return null;
  return { field, value, literal: literal === true };
}

function checkSearchField(field: Json, table: FieldTable, mistakes: Mistakes): void {
  if (typeof field !== 'string') {
    mistakes.add('search.field', field === null ? 'is missing' : `must be text, not ${quote(field)}`);
    return;
  }
  const meaning = meaningOf(table, field);
  if (meaning.kind === 'unknown') mistakes.add('search.field', `the index has no field ${quote(field)}`);
  const isSearchable = meaning.kind === 'field' && meaning.traits.isSearchable;
  if (isSearchable || meaning.kind === 'absent' || meaning.kind === 'unknown') return;
  const type = meaning.kind === 'field' ? `of type ${meaning.type}` : 'built in';
  mistakes.add('search.field', `search needs a field of type text or text[]; ${quote(field)} is ${type}`);
}

function checkSearchValue(value: Json, mistakes: Mistakes): void {
  if (typeof value !== 'string') {
    mistakes.add('search.value', value === null ? 'is missing' : `must be text, not ${quote(value)}`);
    return;
  }
  const length = countCodePoints(value);
  if (length <= searchCodePointsMax) return;
  mistakes.add('search.value', `has ${length} characters; at most ${searchCodePointsMax} are allowed`);
}
