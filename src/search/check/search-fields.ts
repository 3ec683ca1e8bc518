import type { Json } from '../../contract/json.ts';
import { searchFieldShape, type searchShape } from '../../contract/shapes-query.ts';
import type { CheckedSearch } from '../checked-query.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { traitsOf } from '../fields/field-type.ts';
import { isSent, type Members, readerOf } from './members.ts';
import { type QueryErrors, quote } from './query-errors.ts';

type SearchField = CheckedSearch['fields'][number];

const readSearchField = readerOf(searchFieldShape, 'ignored');

/** Means all text fields that are not named in `fields`. */
const everyText = '*';

/** The fields of a search: `field`, or `fields` with their weights. @returns null if they are missing or invalid */
export function checkSearchFields(
  sent: Json,
  { field = null, fields = null }: Members<typeof searchShape>,
  table: FieldTable,
  errors: QueryErrors,
): SearchField[] | null {
  if (!isSent(sent, 'fields')) {
    if (!isSent(sent, 'field')) errors.add('search.field', 'is missing');
    if (field === null) return null;
    return expanded(checkField(field, 'search.field', table, errors, 1), new Set(), table);
  }
  if (field !== null) errors.add('search', 'has both "field" and "fields"; use one of them');
  if (field !== null || fields === null) return null;
  if (fields.length === 0) errors.add('search.fields', 'must list at least one field');
  return checkList(fields, table, errors);
}

function checkList(fields: readonly Json[], table: FieldTable, errors: QueryErrors): SearchField[] | null {
  const checked: SearchField[] = [];
  const seen = new Set<string>();
  for (const [at, entry] of fields.entries()) {
    const place = `search.fields[${at}]`;
    const { field: name, weight } = readSearchField(entry, place, errors) ?? {};
    if (typeof name !== 'string') continue;
    checked.push(checkField(name, `${place}.field`, table, errors, weight ?? 1));
    if (seen.has(name)) errors.add(`${place}.field`, `${quote(name)} is named twice`);
    seen.add(name);
  }
  if (checked.length < fields.length || checked.length === 0) return null;
  return checked.flatMap((one) => expanded(one, seen, table));
}

/**
 * The fields that an entry includes. An open table may have no text field yet: then `*` is treated as a field that no item has.
 */
function expanded(entry: SearchField, named: ReadonlySet<string>, table: FieldTable): SearchField[] {
  if (entry.field !== everyText) return [entry];
  const texts = textFields(table);
  if (texts.length === 0) return [entry];
  return texts.filter((field) => !named.has(field)).map((field) => ({ ...entry, field }));
}

/** Sorted, because scores are sums over the fields and must be the same everywhere. */
function textFields({ fields }: FieldTable): string[] {
  const names = [...fields].filter(([, type]) => traitsOf(type).isSearchable).map(([name]) => name);
  return names.sort();
}

function checkField(
  field: string,
  place: string,
  table: FieldTable,
  errors: QueryErrors,
  weight: number,
): SearchField {
  const hasTexts = field === everyText && textFields(table).length > 0;
  if (!hasTexts) checkSearchable(field, place, table, errors);
  return { field, weight };
}

/** Checks that a field is searchable. */
export function checkSearchable(field: string, place: string, table: FieldTable, errors: QueryErrors): void {
  const meaning = meaningOf(table, field);
  if (meaning.kind === 'unknown') errors.add(place, `the index has no field ${quote(field)}`);
  const isSearchable = meaning.kind === 'field' && meaning.traits.isSearchable;
  if (isSearchable || meaning.kind === 'absent' || meaning.kind === 'unknown') return;
  const type = meaning.kind === 'field' ? `of type ${meaning.type}` : 'built in';
  errors.add(place, `search needs a field of type text or text[]; ${quote(field)} is ${type}`);
}
