/** The order of docs for a query, by fields, by `_score` or by the rules of a locale, and the first rows in it. */
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery, SortKey } from '../checked-query.ts';
import { GeoColumn } from '../columns/geo-column.ts';
import { ScalarCodes } from '../columns/scalar-codes.ts';
import { current } from '../phase.ts';
import type { Scratch } from '../scratch.ts';
import type { RowPlace, ShownRow } from '../shard-answer.ts';
import { absentOrder, NumberOrder, type Order, type PlaceValue, type Ranking } from '../sort/order.ts';
import { compareCollated, compareText } from '../sort/text-order.ts';
import { topDocs } from '../sort/top-docs.ts';
import type { DocScore } from '../text/relevance.ts';
import type { DocTable } from './doc-table.ts';
import type { Hits } from './hits.ts';
import type { Tables } from './tables.ts';

/** @param scoreOf from the search of the query */
export function rankingOf({ sort }: CheckedQuery, tables: Tables, scoreOf: DocScore): Ranking {
  const { docs } = tables;
  return {
    orders: sort.map((key) => orderBy(key, tables, scoreOf)),
    compareIds: (a, b) => docs.compareIds(a, b),
    compareIdsTo: (doc, { originId, sourceId }) =>
      compareText(docs.originIdOf(doc), originId) || compareText(docs.sourceIdOf(doc), sourceId),
  };
}

function orderBy({ field, order, near, collation }: SortKey, tables: Tables, scoreOf: DocScore): Order {
  const isDescending = order === 'desc';
  if (field === '_score') return NumberOrder.of(isDescending, scoreOf);
  const column = tables.column(field);
  if (collation !== undefined && column instanceof ScalarCodes) {
    return new CollatedOrder(column, collation, isDescending);
  }
  if (near === undefined) return column?.order(isDescending) ?? absentOrder;
  return column instanceof GeoColumn ? column.near(near, isDescending) : absentOrder;
}

/** The position of a doc in the order of an answer. */
export function placeOf(doc: number, docs: DocTable, orders: readonly Order[]): RowPlace {
  return {
    values: orders.map((order) => order.value(doc)),
    originId: docs.originIdOf(doc),
    sourceId: docs.sourceIdOf(doc),
  };
}

/** The minimum cost of a comparison, in units of the work budget. */
const comparisonUnits = 100;

/** Orders texts by the rules of a locale. That order cannot be expressed by numbers, so all texts have the same key. */
class CollatedOrder implements Order {
  readonly isExact = false;

  constructor(
    private readonly column: ScalarCodes,
    private readonly collation: string,
    readonly isDescending: boolean,
  ) {}

  key(doc: number): number {
    return this.column.codeAt(doc) < 0 ? Infinity : 0;
  }

  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number {
    for (let at = from; at < end; at += 1) into[at] = this.key(docs[at] ?? 0);
    workBudget.units += end - from;
    return end;
  }

  compare(a: number, b: number): number {
    if (this.column.codeAt(a) === this.column.codeAt(b)) return 0;
    return this.compareTo(a, this.value(b));
  }

  value(doc: number): PlaceValue {
    return this.column.codeAt(doc) < 0 ? null : this.column.textAt(doc);
  }

  keyOf(value: PlaceValue): number {
    return value === null ? Infinity : 0;
  }

  compareTo(doc: number, value: PlaceValue): number {
    const own = this.value(doc);
    if (typeof own !== 'string' || typeof value !== 'string') return 0;
    workBudget.units += comparisonUnits + Math.min(own.length, value.length);
    const compared = compareCollated(this.collation, own, value);
    return this.isDescending ? -compared : compared;
  }
}

/** The cost of a row for each key of its sort, in units of the work budget. */
const unitsPerKey = 50;

/** The first rows in order, up to the end of the page. */
export function* pageOf(
  query: CheckedQuery,
  tables: Tables,
  scratch: Scratch,
  hits: Hits,
): Steps<ShownRow[]> {
  const { sort, offset, pageSize, after } = query;
  const { docs: matching, count, scoreOf } = hits;
  const { docs: table } = tables;
  current.enter('sort');
  const ranking = rankingOf(query, tables, scoreOf);
  const limit = pageSize === 0 ? 0 : offset + pageSize;
  const list = { docs: matching, keys: scratch.keys, count };
  const docs = yield* topDocs(ranking, list, limit, after);
  const rows: ShownRow[] = [];
  for (const doc of docs) {
    rows.push({
      place: placeOf(doc, table, ranking.orders),
      score: scoreOf(doc),
      updatedAtMs: table.updatedAtMsOf(doc),
      fieldsBytes: table.textBytesOf(doc),
    });
    workBudget.units += unitsPerKey * sort.length;
    if (workBudget.isOver()) yield;
  }
  return rows;
}
