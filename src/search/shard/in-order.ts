/** A fast path for queries that filter and sort by numbers of one field: only the docs of the page are read. */
import type { FilterOperator } from '../../contract/query-names.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery } from '../checked-query.ts';
import { NumberColumn } from '../columns/number-column.ts';
import type { FilterNode, PositiveOperator } from '../filter/condition.ts';
import { current } from '../phase.ts';
import type { Stretch } from '../sort/sorted-docs.ts';
import { type Hits, unsearched } from './hits.ts';
import type { Tables } from './tables.ts';

const everything: Stretch = { low: -Infinity, high: Infinity };
const boundOperators: ReadonlySet<FilterOperator> = new Set<FilterOperator>([
  'equals',
  'greaterThan',
  'greaterThanOrEquals',
  'lessThan',
  'lessThanOrEquals',
]);

/** The matching docs for a page, and the number of all matches. */
export interface HitsInOrder {
  readonly total: number;
  readonly hits: Hits;
}

/**
 * The docs for the page of a query that only filters by bounds on a number and sorts by it first.
 * @returns null for other queries, and if the page has docs without the number
 */
export function* hitsInOrder(query: CheckedQuery, tables: Tables): Steps<HitsInOrder | null> {
  const { filter, search, facets, distinct, sort, after, offset, pageSize } = query;
  const [key] = sort;
  if (search !== null || distinct || facets.length > 0 || key === undefined || key.near !== undefined) {
    return null;
  }
  const column = tables.column(key.field);
  if (!(column instanceof NumberColumn) || key.field === '_score') return null;
  const stretch = filter === null ? everything : yield* stretchOf(filter, key.field, column);
  const place = after === null ? null : (after.values[0] ?? null);
  if (stretch === null || (after !== null && place === null)) return null;
  current.enter('sort');
  const ordered = yield* column.inOrder();
  if (ordered === null) return null;
  const isDescending = key.order === 'desc';
  const placeKey = place === null ? null : column.order(isDescending).keyOf(place);
  const walk = {
    isDescending,
    limit: pageSize === 0 ? 0 : offset + pageSize,
    after: placeKey === null ? null : isDescending ? -placeKey : placeKey,
  };
  const { docs, isAll } = yield* ordered.first(stretch, walk);
  const count = ordered.count(stretch);
  const total = filter === null ? tables.docs.size : count;
  if (isAll && total > count) return null;
  return { total, hits: unsearched(docs, docs.length) };
}

/** The range that a filter of bounds on one field accepts; null for other filters. */
function* stretchOf(node: FilterNode, field: string, column: NumberColumn): Steps<Stretch | null> {
  if (node.kind === 'condition') {
    const { operator, value, caseInsensitive } = node;
    if (node.field !== field || !isBound(operator)) return null;
    return yield* column.stretchOf({ operator, value, caseInsensitive });
  }
  if (node.kind === 'or' || node.nodes.length === 0) return null;
  let { low, high } = everything;
  for (const member of node.nodes) {
    const stretch = yield* stretchOf(member, field, column);
    if (stretch === null) return null;
    low = Math.max(low, stretch.low);
    high = Math.min(high, stretch.high);
  }
  return { low, high };
}

function isBound(operator: FilterOperator): operator is PositiveOperator {
  return boundOperators.has(operator);
}
