import type { Json } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { sortKeysMax } from '../../contract/limits.ts';
import type { SortKey } from '../checked-query.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { isSortable } from '../fields/field-type.ts';
import { checkOrigin, isOfPlaces } from './geo.ts';
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
  checkNearOnce(sort, mistakes);
  return keys.size === 0 ? fallback : [...keys.values()];
}

/** Some clients number the orders. */
const numberedOrders: readonly (SortKey['order'] | undefined)[] = ['desc', 'asc'];

function checkKey(entry: Json, place: string, table: FieldTable, mistakes: Mistakes): SortKey | null {
  if (!isJsonObject(entry)) {
    mistakes.add(place, `must be {"field", "order"}, not ${quote(entry)}`);
    return null;
  }
  const field = getOwn(entry, 'field') ?? null;
  const sent = getOwn(entry, 'order') ?? 'asc';
  const order = typeof sent === 'number' ? numberedOrders[sent] : sent;
  if (typeof field !== 'string') {
    mistakes.add(`${place}.field`, field === null ? 'is missing' : `must be a string, not ${quote(field)}`);
  } else {
    checkSortField(field, (getOwn(entry, 'near') ?? null) !== null, place, table, mistakes);
  }
  if (order !== 'asc' && order !== 'desc') {
    mistakes.add(`${place}.order`, `must be "asc" or "desc", not ${quote(sent)}`);
    return null;
  }
  if (typeof field !== 'string') return null;
  const near = getOwn(entry, 'near') ?? null;
  if (near === null) {
    const collation = table.collations?.get(field);
    return collation === undefined ? { field, order } : { field, order, collation };
  }
  const origin = checkOrigin(near, `${place}.near`, mistakes);
  return origin && { field, order, near: origin };
}

function checkNearOnce(sort: readonly Json[], mistakes: Mistakes): void {
  const places = [...sort.keys()].filter((at) => {
    const entry = sort[at];
    return entry !== undefined && isJsonObject(entry) && (getOwn(entry, 'near') ?? null) !== null;
  });
  const [, second] = places;
  if (second !== undefined) mistakes.add(`sort[${second}].near`, 'one key at most sorts by distance');
}

function checkSortField(
  field: string,
  isNear: boolean,
  place: string,
  table: FieldTable,
  mistakes: Mistakes,
): void {
  const meaning = meaningOf(table, field);
  if (meaning.kind === 'unknown') {
    mistakes.add(`${place}.field`, `the index has no field ${quote(field)}`);
  }
  if (isNear) {
    if (isOfPlaces(meaning) || meaning.kind === 'absent' || meaning.kind === 'unknown') return;
    const type = meaning.kind === 'field' ? `of type ${meaning.type}` : 'no field of an item';
    mistakes.add(`${place}.near`, `needs a field of type geoPoint or geoPoint[]; ${quote(field)} is ${type}`);
    return;
  }
  if (meaning.kind !== 'field' || isSortable(meaning.traits)) return;
  const advice = isOfPlaces(meaning) ? '; name a place to be "near"' : '';
  mistakes.add(`${place}.field`, `${quote(field)} is of type ${meaning.type}, which has no order${advice}`);
}
