/** Keeps the first matching doc for each value of a field (docs/reference/indexes-and-queries.md "One item of each value"). */
import type { EntityRef } from '../../contract/ids.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedDistinct, CheckedQuery } from '../checked-query.ts';
import { eachRef } from '../distinct/decision.ts';
import { firstOfEach, type ValueIds, valueIds } from '../distinct/first-of-each.ts';
import { nameOfValue, type SentPlace, sentValues, valuesSentMax } from '../distinct/sent-place.ts';
import type { PlainValue } from '../packed-values.ts';
import { current } from '../phase.ts';
import type { Scratch } from '../scratch.ts';
import type { RowPlace } from '../shard-answer.ts';
import type { Ranking } from '../sort/order.ts';
import type { DocHits, Hits } from './hits.ts';
import { placeOf, rankingOf } from './ranking.ts';
import type { Tables } from './tables.ts';

/** The cost of looking up an item, in units of the work budget. */
const unitsPerItem = 100;
/** The cost of reporting a position, in units of the work budget. */
const unitsPerPlace = 300;
/** The cost of each sort value of a position, in units of the work budget. */
const unitsPerKey = 50;

/** Everything that decides which docs of a query remain after `distinct`. */
export interface Reduction {
  readonly query: CheckedQuery;
  readonly distinct: CheckedDistinct;
  readonly tables: Tables;
  readonly scratch: Scratch;
  /** From the query's search. */
  readonly scoreOf: Hits['scoreOf'];
  /** Number of values found so far in all populations. */
  valueCount: number;
}

/** The reduction for a query; null if it has no `distinct`. */
export function reductionOf(
  query: CheckedQuery,
  tables: Tables,
  scratch: Scratch,
  { scoreOf }: Hits,
): Reduction | null {
  const { distinct } = query;
  return distinct === null ? null : { query, distinct, tables, scratch, scoreOf, valueCount: 0 };
}

/**
 * Returns a new list with the docs that represent a value, and those without a value.
 * @param populationIndex index of their population in `populationsOf`
 */
export function* reduced(reduction: Reduction, hits: DocHits, populationIndex: number): Steps<DocHits> {
  const found = yield* firsts(reduction, hits);
  if (found === null) return hits;
  const { values, first } = found;
  reduction.valueCount += found.valueCount;
  const { beaten } = reduction.distinct;
  if (beaten !== null) yield* leaveOut(beaten[populationIndex] ?? [], reduction.tables, values, first);
  const docs = new Int32Array(hits.count);
  let count = 0;
  for (let at = 0; at < hits.count; at += 1) {
    const doc = hits.docs[at] ?? 0;
    const id = values.ids[at] ?? -1;
    if (id >= 0 && first[id] !== doc) continue;
    docs[count] = doc;
    count += 1;
  }
  workBudget.units += hits.count;
  return { docs, count };
}

/** The place of the first doc of each value here, for the comparison with other shards. @returns whether all were taken */
export function* placesOfFirsts(
  reduction: Reduction,
  hits: DocHits,
  take: (name: PlainValue, place: SentPlace) => boolean,
): Steps<boolean> {
  const found = yield* firsts(reduction, hits);
  if (found === null) return true;
  const { query, tables, scoreOf } = reduction;
  const orders = rankingOf(query, tables, scoreOf).orders.slice(0, valuesSentMax);
  for (let id = 0; id < found.first.length; id += 1) {
    const doc = found.first[id] ?? -1;
    if (doc < 0) continue;
    const { originId, sourceId, values } = placeOf(doc, tables.docs, orders);
    if (!take(nameOfValue(found.values.valueOf(id)), { originId, sourceId, values: sentValues(values) }))
      return false;
    workBudget.units += unitsPerPlace;
    if (workBudget.isOver()) yield;
  }
  return true;
}

/** The places of items, for a closer comparison with those of other shards. */
export function* placesOf(
  refs: readonly EntityRef[],
  { docs }: Tables,
  { orders }: Ranking,
  take: (place: RowPlace | null) => boolean,
): Steps<void> {
  current.enter('distinct');
  for (const { sourceId, originId } of refs) {
    const doc = docs.find(sourceId, originId);
    if (!take(doc < 0 ? null : placeOf(doc, docs, orders))) return;
    workBudget.units += unitsPerItem + orders.length * unitsPerKey;
    if (workBudget.isOver()) yield;
  }
}

/** The first docs of their values here. */
interface Firsts {
  readonly values: ValueIds;
  /** By the id of a value; -1: no doc of the list has it. */
  readonly first: Int32Array;
  readonly valueCount: number;
}

/** @returns null when no doc here has a value */
function* firsts(
  { query, distinct, tables, scratch, scoreOf }: Reduction,
  { docs, count }: DocHits,
): Steps<Firsts | null> {
  current.enter('distinct', distinct.field);
  const values = yield* valueIds(tables.column(distinct.field), docs, count);
  if (values === null) return null;
  const ranking = rankingOf(query, tables, scoreOf);
  const first = yield* firstOfEach(ranking, { docs, keys: scratch.keys, count }, values);
  let valueCount = 0;
  for (const doc of first) if (doc >= 0) valueCount += 1;
  return { values, first, valueCount };
}

/** Takes away the values whose first docs here are beaten by docs of other shards. */
function* leaveOut(
  beaten: readonly string[],
  { docs }: Tables,
  values: ValueIds,
  first: Int32Array,
): Steps<void> {
  yield* eachRef(beaten, (sourceId, originId) => {
    workBudget.units += unitsPerItem;
    const doc = docs.find(sourceId, originId);
    const id = doc < 0 ? -1 : values.idOfDoc(doc);
    if (id >= 0) first[id] = -1;
  });
}
