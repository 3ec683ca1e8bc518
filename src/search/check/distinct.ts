import type { CheckedDistinct } from '../checked-query.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { isDistinguishable } from '../fields/field-type.ts';
import { type Mistakes, quote } from './mistakes.ts';

/** `distinct` of a query; null for none (docs/reference/indexes-and-queries.md "One item of each value"). */
export function checkDistinct(
  field: string | null,
  isForFacets: boolean,
  table: FieldTable,
  mistakes: Mistakes,
): CheckedDistinct | null {
  if (field === null) return null;
  checkDistinctField(field, table, mistakes);
  return { field, isForFacets, beaten: null };
}

function checkDistinctField(field: string, table: FieldTable, mistakes: Mistakes): void {
  const meaning = meaningOf(table, field);
  if (meaning.kind === 'unknown') mistakes.add('distinct', `the index has no field ${quote(field)}`);
  const isFit = meaning.kind === 'field' && isDistinguishable(meaning.traits);
  if (isFit || meaning.kind === 'absent' || meaning.kind === 'unknown') return;
  const type = meaning.kind === 'field' ? `of type ${meaning.type}` : 'no field of an item';
  mistakes.add(
    'distinct',
    `needs a field of type keyword, text, a number, boolean or date; ${quote(field)} is ${type}`,
  );
}
