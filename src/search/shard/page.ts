import type { JsonObject } from '../../contract/json.ts';
import type { CheckedQuery } from '../checked-query.ts';
import { pace, type Steps } from '../pace.ts';
import type { Row, RowPlace } from '../shard-answer.ts';
import { absentOrder, type Order } from '../sort/order.ts';
import type { Ranking } from '../sort/ranking.ts';
import { topDocs } from '../sort/top-docs.ts';
import { compareText } from '../text/code-points.ts';
import { ScoreOrder, scoreOf } from '../text/score.ts';
import type { DocTable } from './doc-table.ts';
import type { Scratch } from './scratch.ts';
import type { Tables } from './tables.ts';

/** The cost of a row for each key of its sort, in units of the pace. */
const unitsPerKey = 50;

/** The first rows of the matching docs in order, up to the end of the page. @param count number of matching docs */
export function* pageOf(query: CheckedQuery, tables: Tables, scratch: Scratch, count: number): Steps<Row[]> {
  const { sort, search, offset, pageSize, after } = query;
  pace.enter('sort');
  const scores = search === null ? null : scratch.scores;
  const orders = sort.map(({ field, order }) => orderBy(field, order === 'desc', tables, scores));
  const limit = pageSize === 0 ? 0 : offset + pageSize;
  const list = { docs: scratch.hits, keys: scratch.keys, count };
  const docs = yield* topDocs(rankingOf(tables.docs, orders), list, limit, after);
  const rows: Row[] = [];
  for (const doc of docs) {
    rows.push(rowOf(doc, tables.docs, orders, scores));
    pace.units += unitsPerKey * orders.length;
    if (pace.isOver()) yield;
  }
  return rows;
}

function orderBy(name: string, isDescending: boolean, tables: Tables, scores: Uint32Array | null): Order {
  if (name === '_score') return new ScoreOrder(scores, isDescending);
  return tables.column(name)?.order(isDescending) ?? absentOrder;
}

function rankingOf(docs: DocTable, orders: readonly Order[]): Ranking {
  return {
    orders,
    compareIds: (a, b) => docs.compareIds(a, b),
    compareIdsTo: (doc, { originId, sourceId }) =>
      compareText(docs.originIdOf(doc), originId) || compareText(docs.sourceIdOf(doc), sourceId),
  };
}

function rowOf(doc: number, docs: DocTable, orders: readonly Order[], scores: Uint32Array | null): Row {
  const place = {
    values: orders.map((order) => order.value(doc)),
    originId: docs.originIdOf(doc),
    sourceId: docs.sourceIdOf(doc),
  };
  return new ShardRow(place, scoreOf(scores?.[doc] ?? 0), docs.updatedAtMsOf(doc), docs.textBytesOf(doc));
}

class ShardRow implements Row {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  readonly fieldsBytes: Buffer;

  constructor(place: RowPlace, score: number, updatedAtMs: number, fieldsBytes: Buffer) {
    this.place = place;
    this.score = score;
    this.updatedAtMs = updatedAtMs;
    this.fieldsBytes = fieldsBytes;
  }

  get fieldsText(): string {
    return this.fieldsBytes.toString();
  }

  get fields(): JsonObject {
    return JSON.parse(this.fieldsText) as JsonObject;
  }
}
