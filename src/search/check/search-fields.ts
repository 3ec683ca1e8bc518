import type { Json, JsonObject } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { searchFieldsMax, searchWeightMax } from '../../contract/limits.ts';
import type { CheckedSearch } from '../checked-query.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { traitsOf } from '../fields/field-type.ts';
import { type Mistakes, quote } from './mistakes.ts';

type SearchField = CheckedSearch['fields'][number];

/** Stands for every text field that `fields` does not name. */
const everyText = '*';

/** The fields of a search: `field`, or `fields` with their weights. @returns null when a field is missing or no text */
export function checkSearchFields(
  search: JsonObject,
  table: FieldTable,
  mistakes: Mistakes,
): SearchField[] | null {
  const field = getOwn(search, 'field') ?? null;
  const fields = getOwn(search, 'fields') ?? null;
  if (fields === null) {
    const one = checkField(field, 'search.field', table, mistakes, 1);
    return one?.flatMap((only) => expanded(only, new Set(), table)) ?? null;
  }
  if (field !== null) {
    mistakes.add('search', 'has both "field" and "fields"; use one of them');
    return null;
  }
  if (!Array.isArray(fields)) {
    mistakes.add('search.fields', `must be an array of {"field", "weight"}, not ${quote(fields)}`);
    return null;
  }
  if (fields.length === 0) mistakes.add('search.fields', 'names no field');
  if (fields.length > searchFieldsMax) {
    mistakes.add('search.fields', `${fields.length} fields; at most ${searchFieldsMax} are allowed`);
    return null;
  }
  return checkList(fields, table, mistakes);
}

function checkList(fields: readonly Json[], table: FieldTable, mistakes: Mistakes): SearchField[] | null {
  const checked: SearchField[] = [];
  const seen = new Set<string>();
  for (const [at, entry] of fields.entries()) {
    const place = `search.fields[${at}]`;
    if (!isJsonObject(entry)) {
      mistakes.add(place, `must be {"field", "weight"}, not ${quote(entry)}`);
      continue;
    }
    const name = getOwn(entry, 'field') ?? null;
    const weight = checkWeight(getOwn(entry, 'weight') ?? 1, `${place}.weight`, mistakes);
    const one = checkField(name, `${place}.field`, table, mistakes, weight);
    if (one === null || typeof name !== 'string') continue;
    if (seen.has(name)) mistakes.add(`${place}.field`, `${quote(name)} is named twice`);
    seen.add(name);
    checked.push(...one);
  }
  if (checked.length < fields.length || checked.length === 0) return null;
  return checked.flatMap((one) => expanded(one, seen, table));
}

/** The fields that an entry stands for. An open table may have no text field yet: `*` is then a field that no item has. */
function expanded(entry: SearchField, named: ReadonlySet<string>, table: FieldTable): SearchField[] {
  if (entry.field !== everyText) return [entry];
  const texts = textFields(table);
  if (texts.length === 0) return [entry];
  return texts.filter((field) => !named.has(field)).map((field) => ({ ...entry, field }));
}

/** In one order everywhere: scores are sums over the fields. */
function textFields({ fields }: FieldTable): string[] {
  const names = [...fields].filter(([, type]) => traitsOf(type).isSearchable).map(([name]) => name);
  return names.sort();
}

function checkField(
  field: Json,
  place: string,
  table: FieldTable,
  mistakes: Mistakes,
  weight: number,
): SearchField[] | null {
  if (typeof field !== 'string') {
    mistakes.add(place, field === null ? 'is missing' : `must be a string, not ${quote(field)}`);
    return null;
  }
  const hasTexts = field === everyText && textFields(table).length > 0;
  if (!hasTexts) checkSearchable(field, place, table, mistakes);
  return [{ field, weight }];
}

/** Checks that a field has words, for a search or what goes with one. */
export function checkSearchable(field: string, place: string, table: FieldTable, mistakes: Mistakes): void {
  const meaning = meaningOf(table, field);
  if (meaning.kind === 'unknown') mistakes.add(place, `the index has no field ${quote(field)}`);
  const isSearchable = meaning.kind === 'field' && meaning.traits.isSearchable;
  if (isSearchable || meaning.kind === 'absent' || meaning.kind === 'unknown') return;
  const type = meaning.kind === 'field' ? `of type ${meaning.type}` : 'built in';
  mistakes.add(place, `search needs a field of type text or text[]; ${quote(field)} is ${type}`);
}

function checkWeight(weight: Json, place: string, mistakes: Mistakes): number {
  if (typeof weight === 'number' && weight > 0 && weight <= searchWeightMax) return weight;
  mistakes.add(place, `must be a number over 0, up to ${searchWeightMax}, not ${quote(weight)}`);
  return 1;
}
