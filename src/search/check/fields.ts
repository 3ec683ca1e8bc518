import type { Json } from '../../contract/json.ts';
import { reservedFields } from '../../contract/query-names.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { type Mistakes, quote } from './mistakes.ts';

/**
 * The fields that come back, without repetition (docs/reference/indexes-and-queries.md "Choosing fields").
 * Built-in names may be listed, though they come back anyway.
 */
export function checkFields(fields: readonly Json[], table: FieldTable, mistakes: Mistakes): string[] {
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
