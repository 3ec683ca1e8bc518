import { reservedFields } from '../../contract/built-in-fields.ts';
import type { Json } from '../../contract/json.ts';
import { chosenFieldsMax } from '../../contract/limits.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { type Mistakes, quote } from './mistakes.ts';

/**
 * The fields that come back, without repetition; null for all (docs/reference/indexes-and-queries.md "Choosing fields").
 * Built-in names may be listed, though they come back anyway.
 */
export function checkFields(fields: Json, table: FieldTable, mistakes: Mistakes): string[] | null {
  if (fields === null) return null;
  if (!Array.isArray(fields)) {
    mistakes.add('fields', `must be an array of field names, not ${quote(fields)}`);
    return null;
  }
  if (fields.length > chosenFieldsMax) {
    mistakes.add('fields', `${fields.length} names; at most ${chosenFieldsMax} are allowed`);
    return null;
  }
  const names = new Set<string>();
  for (const [at, name] of fields.entries()) {
    if (typeof name !== 'string') mistakes.add(`fields[${at}]`, `must be a string, not ${quote(name)}`);
    else if (isKnown(table, name)) names.add(name);
    else mistakes.add(`fields[${at}]`, `the index has no field ${quote(name)}`);
  }
  return [...names];
}

function isKnown(table: FieldTable, name: string): boolean {
  return reservedFields.includes(name) || meaningOf(table, name).kind !== 'unknown';
}
