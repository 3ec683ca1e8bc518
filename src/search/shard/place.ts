/** The order of a shard's docs, and their places in the order of an answer. */
import type { CheckedQuery, SortKey } from '../checked-query.ts';
import { CollatedOrder } from '../columns/collated-order.ts';
import { GeoColumn } from '../columns/geo-column.ts';
import { ScalarCodes } from '../columns/scalar-codes.ts';
import type { RowPlace } from '../shard-answer.ts';
import { absentOrder, type Order, type Ranking } from '../sort/order.ts';
import { compareText } from '../sort/text-order.ts';
import { type DocScore, ScoreOrder } from '../text/score.ts';
import type { DocTable } from './doc-table.ts';
import type { Tables } from './tables.ts';

/** The order in which a query asks for the docs of a shard. @param scoreOf from its search */
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
  if (field === '_score') return new ScoreOrder(scoreOf, isDescending);
  const column = tables.column(field);
  if (collation !== undefined && column instanceof ScalarCodes) {
    return new CollatedOrder(column, collation, isDescending);
  }
  if (near === undefined) return column?.order(isDescending) ?? absentOrder;
  return column instanceof GeoColumn ? column.near(near, isDescending) : absentOrder;
}

export function placeOf(doc: number, docs: DocTable, orders: readonly Order[]): RowPlace {
  return {
    values: orders.map((order) => order.value(doc)),
    originId: docs.originIdOf(doc),
    sourceId: docs.sourceIdOf(doc),
  };
}
