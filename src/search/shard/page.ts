import type { JsonObject } from '../../contract/json.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery } from '../checked-query.ts';
import { current } from '../phase.ts';
import type { Scratch } from '../scratch.ts';
import type { Row, RowPlace } from '../shard-answer.ts';
import { topDocs } from '../sort/top-docs.ts';
import type { DocTable } from './doc-table.ts';
import type { Hits } from './hits.ts';
import { placeOf, rankingOf } from './ranking.ts';
import type { Tables } from './tables.ts';

/** The cost of a row for each key of its sort, in units of the work budget. */
const unitsPerKey = 50;

/** The first rows in order, up to the end of the page. */
export function* pageOf(query: CheckedQuery, tables: Tables, scratch: Scratch, hits: Hits): Steps<Row[]> {
  const { sort, offset, pageSize, after } = query;
  const { docs: matching, count, scoreOf } = hits;
  current.enter('sort');
  const ranking = rankingOf(query, tables, scoreOf);
  const limit = pageSize === 0 ? 0 : offset + pageSize;
  const list = { docs: matching, keys: scratch.keys, count };
  const docs = yield* topDocs(ranking, list, limit, after);
  const rows: Row[] = [];
  for (const doc of docs) {
    rows.push(new ShardRow(placeOf(doc, tables.docs, ranking.orders), scoreOf(doc), tables.docs, doc));
    workBudget.units += unitsPerKey * sort.length;
    if (workBudget.isOver()) yield;
  }
  return rows;
}

class ShardRow implements Row {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  readonly fieldsBytes: Buffer;

  constructor(place: RowPlace, score: number, docs: DocTable, doc: number) {
    this.place = place;
    this.score = score;
    this.updatedAtMs = docs.updatedAtMsOf(doc);
    this.fieldsBytes = docs.textBytesOf(doc);
  }

  get fieldsText(): string {
    return this.fieldsBytes.toString();
  }

  get fields(): JsonObject {
    return JSON.parse(this.fieldsText) as JsonObject;
  }
}
