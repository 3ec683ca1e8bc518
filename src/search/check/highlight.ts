import type { Json, JsonObject } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { highlightMarkCharactersMax } from '../../contract/limits.ts';
import type { CheckedHighlight, CheckedSearch } from '../checked-query.ts';
import type { FieldTable } from '../fields/field-table.ts';
import { type Mistakes, quote } from './mistakes.ts';
import { checkSearchable } from './search-fields.ts';

/**
 * The highlights of a query (docs/reference/indexes-and-queries.md "Highlights"); null for none. Without a search nothing
 * is highlighted.
 */
export function checkHighlight(
  highlight: Json,
  search: CheckedSearch | null,
  table: FieldTable,
  mistakes: Mistakes,
): CheckedHighlight | null {
  if (highlight === null) return null;
  if (!isJsonObject(highlight)) {
    mistakes.add('highlight', `must be {"fields", "before", "after", "length"}, not ${quote(highlight)}`);
    return null;
  }
  const named = checkNames(getOwn(highlight, 'fields') ?? null, table, mistakes);
  const before = checkMark(highlight, 'before', '<em>', mistakes);
  const after = checkMark(highlight, 'after', '</em>', mistakes);
  const length = checkLength(getOwn(highlight, 'length') ?? null, mistakes);
  if (search === null) return null;
  return { fields: named ?? search.fields.map(({ field }) => field), before, after, length };
}

function checkNames(fields: Json, table: FieldTable, mistakes: Mistakes): string[] | null {
  if (fields === null) return null;
  if (!Array.isArray(fields)) {
    mistakes.add('highlight.fields', `must be an array of field names, not ${quote(fields)}`);
    return null;
  }
  const names = new Set<string>();
  for (const [at, name] of fields.entries()) {
    const place = `highlight.fields[${at}]`;
    if (typeof name !== 'string') mistakes.add(place, `must be a string, not ${quote(name)}`);
    else if (!names.has(name)) {
      checkSearchable(name, place, table, mistakes);
      names.add(name);
    }
  }
  return [...names];
}

function checkMark(highlight: JsonObject, name: string, usual: string, mistakes: Mistakes): string {
  const mark = getOwn(highlight, name) ?? usual;
  if (typeof mark === 'string' && mark.length <= highlightMarkCharactersMax) return mark;
  const problem =
    typeof mark === 'string'
      ? `has ${mark.length} characters; at most ${highlightMarkCharactersMax} are allowed`
      : `must be a string, not ${quote(mark)}`;
  mistakes.add(`highlight.${name}`, problem);
  return usual;
}

function checkLength(length: Json, mistakes: Mistakes): number | null {
  if (length === null) return null;
  if (typeof length === 'number' && Number.isInteger(length) && length >= 1) return length;
  mistakes.add('highlight.length', `must be a whole number from 1, not ${quote(length)}`);
  return null;
}
