import type { Json } from '../../contract/json.ts';
import { sortKeyShape } from '../../contract/shapes-query.ts';
import type { SortKey } from '../checked-query.ts';
import { type FieldTable, isSortable } from '../fields/field-type.ts';
import { checkOrigin, isOfPlaces } from './geo.ts';
import { isSent, readerOf } from './members.ts';
import { describeField, namedField, type QueryErrors, quote } from './query-errors.ts';

const readKey = readerOf(sortKeyShape, 'near');

/**
 * The sort keys, at least one. The default is `_score` with a search and `_updatedAt` otherwise, descending. A repeated field
 * with the same order has no effect and is left out. With the other order it may have one, because lists are sorted by their
 * smallest or by their largest item.
 */
export function checkSort(
  sort: readonly Json[],
  hasSearch: boolean,
  table: FieldTable,
  errors: QueryErrors,
): SortKey[] {
  const fallback: SortKey = { field: hasSearch ? '_score' : '_updatedAt', order: 'desc' };
  if (sort.length === 0) return [fallback];
  const keys = new Map<string, SortKey>();
  for (const [at, entry] of sort.entries()) {
    const key = checkKey(entry, `sort[${at}]`, table, errors);
    const name = `${key?.order} ${key?.field}`;
    if (key !== null && !keys.has(name)) keys.set(name, key);
  }
  checkNearOnce(sort, errors);
  return keys.size === 0 ? [fallback] : [...keys.values()];
}

/** Some clients send the order as a number. */
const numberedOrders = ['desc', 'asc'] as const;

function checkKey(sent: Json, place: string, table: FieldTable, errors: QueryErrors): SortKey | null {
  const key = readKey(sent, place, errors);
  if (key === null) return null;
  const { field, near = null, order: named } = key;
  if (typeof field !== 'string') return null;
  checkSortField(field, isSent(sent, 'near'), place, table, errors);
  const order = typeof named === 'number' ? numberedOrders[named] : (named ?? 'asc');
  if (near === null) {
    const collation = table.collations?.get(field);
    return collation === undefined ? { field, order } : { field, order, collation };
  }
  const origin = checkOrigin(near, `${place}.near`, errors);
  return origin && { field, order, near: origin };
}

function checkNearOnce(sort: readonly Json[], errors: QueryErrors): void {
  const [, second] = [...sort.keys()].filter((at) => isSent(sort[at], 'near'));
  if (second !== undefined) errors.add(`sort[${second}].near`, 'at most one key can sort by distance');
}

function checkSortField(
  field: string,
  isNear: boolean,
  place: string,
  table: FieldTable,
  errors: QueryErrors,
): void {
  const named = namedField(field, `${place}.field`, table, errors);
  if (named === null) return;
  if (isNear) {
    if (isOfPlaces(named)) return;
    const needed = 'needs a field of type geoPoint or geoPoint[]';
    errors.add(`${place}.near`, `${needed}; ${quote(field)} is ${describeField(named)}`);
    return;
  }
  if (named.kind !== 'field' || isSortable(named.traits)) return;
  const advice = isOfPlaces(named) ? '; add "near" to sort by distance' : '';
  errors.add(`${place}.field`, `${quote(field)} is of type ${named.type}, which cannot be sorted${advice}`);
}
