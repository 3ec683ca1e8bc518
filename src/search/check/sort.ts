import type { Json } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { sortKeysMax } from '../../contract/limits.ts';
import type { SortKey } from '../checked-query.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { isSortable } from '../fields/field-type.ts';
import { type Mistakes, quote } from './mistakes.ts';

/**
 * The keys to sort by, at least one. Without any the key is `_score` for a search and `_updatedAt` otherwise,
 * descending. A field that was named before in the same order decides nothing more, and is left out. In the other order
 * it may decide, because a list is sorted by its smallest item or by its largest.
 */
export function checkSort(sort: Json, hasSearch: boolean, table: FieldTable, mistakes: Mistakes): SortKey[] {
  const fallback: SortKey[] = [{ field: hasSearch ? '_score' : '_updatedAt', order: 'desc' }];
  if (sort === null) return fallback;
  if (!Array.isArray(sort)) {
    mistakes.add('sort', `must be an array of {"field", "order"}, not ${quote(sort)}`);
    return fallback;
  }
  if (sort.length > sortKeysMax) {
    mistakes.add('sort', `${sort.length} keys; at most ${sortKeysMax} are allowed`);
    return fallback;
  }
  const keys = new Map<string, SortKey>();
  for (const [at, entry] of sort.entries()) {
    const key = checkKey(entry, `sort[${at}]`, table, mistakes);
    const name = `${key?.order} ${key?.field}`;
    if (key !== null && !keys.has(name)) keys.set(name, key);
  }
  return keys.size === 0 ? fallback : [...keys.values()];
}

function checkKey(entry: Json, place: string, table: FieldTable, mistakes: Mistakes): SortKey | null {
  if (!isJsonObject(entry)) {
    mistakes.add(place, `must be {"field", "order"}, not ${quote(entry)}`);
    return null;
  }
  const field = getOwn(entry, 'field') ?? null;
  const order = getOwn(entry, 'order') ?? 'asc';
  if (typeof field !== 'string') {
    mistakes.add(`${place}.field`, field === null ? 'is missing' : `must be text, not ${quote(field)}`);
  } else {
    checkSortField(field, place, table, mistakes);
  }
  if (order !== 'asc' && order !== 'desc') {
    mistakes.add(`${place}.order`, `must be "asc" or "desc", not ${quote(order)}`);
    return null;
  }
  return typeof field === 'string' ? { field, order } : null;
}

function checkSortField(field: string, place: string, table: FieldTable, mistakes: Mistakes): void {
  const meaning = meaningOf(table, field);
  if (meaning.kind === 'unknown') {
    mistakes.add(`${place}.field`, `the index has no field ${quote(field)}`);
  }
  if (meaning.kind === 'field' && !isSortable(meaning.traits)) {
    mistakes.add(`${place}.field`, `${quote(field)} is of type ${meaning.type}, which has no order`);
  }
}
