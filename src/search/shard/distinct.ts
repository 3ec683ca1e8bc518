/** Of the docs that match, the first of each value of a field (docs/reference/indexes-and-queries.md "One item of each value"). */
import type { CheckedDistinct, CheckedQuery } from '../checked-query.ts';
import type { PlainValue } from '../columns/value-dictionary.ts';
import { firstOfEach } from '../distinct/first-of-each.ts';
import { type ValueIds, valueIds } from '../distinct/value-ids.ts';
import { pace, type Steps } from '../pace.ts';
import type { RowPlace } from '../shard-answer.ts';
import { compareText } from '../text/code-points.ts';
import type { DocHits, Hits } from './hits.ts';
import { placeOf, rankingOf } from './place.ts';
import type { Scratch } from './scratch.ts';
import type { Tables } from './tables.ts';

/** The cost of looking up a doc that stands for a value, in units of the pace. */
const unitsPerDecided = 100;
/** The cost of giving a place away, in units of the pace. */
const unitsPerPlace = 300;

/** What the docs of a query are reduced by. */
export interface Reduction {
  readonly query: CheckedQuery;
  readonly distinct: CheckedDistinct;
  readonly tables: Tables;
  readonly scratch: Scratch;
  /** From the query's search. */
  readonly scoreOf: Hits['scoreOf'];
}

/** The reduction of a query's docs; null when it asks for none. */
export function reductionOf(
  query: CheckedQuery,
  tables: Tables,
  scratch: Scratch,
  { scoreOf }: Hits,
): Reduction | null {
  const { distinct } = query;
  // A front of an earlier version asks for none by saying nothing.
  return distinct ? { query, distinct, tables, scratch, scoreOf } : null;
}

/**
 * Keeps the docs that stand for a value, and those without one, in a list of their own.
 * @param populationIndex place of their population in `populationsOf`
 */
export function* reduced(reduction: Reduction, hits: DocHits, populationIndex: number): Steps<DocHits> {
  const found = yield* firsts(reduction, hits);
  if (found === null) return hits;
  const { values, first } = found;
  const { decided } = reduction.distinct;
  if (decided !== null) yield* decide(reduction.tables, values, decided[populationIndex] ?? [], first);
  const docs = new Int32Array(hits.count);
  let count = 0;
  for (let at = 0; at < hits.count; at += 1) {
    const doc = hits.docs[at] ?? 0;
    const id = values.ids[at] ?? -1;
    if (id >= 0 && first[id] !== doc) continue;
    docs[count] = doc;
    count += 1;
  }
  pace.units += hits.count;
  return { docs, count };
}

/** The place of the first doc of each value here, for the comparison with other shards. @returns whether all were taken */
export function* placesOfFirsts(
  reduction: Reduction,
  hits: DocHits,
  take: (value: PlainValue, place: RowPlace) => boolean,
): Steps<boolean> {
  const found = yield* firsts(reduction, hits);
  if (found === null) return true;
  const { query, tables, scoreOf } = reduction;
  const ranking = rankingOf(query, tables, scoreOf);
  for (let id = 0; id < found.first.length; id += 1) {
    const doc = found.first[id] ?? -1;
    if (doc < 0) continue;
    if (!take(found.values.valueOf(id), placeOf(doc, tables.docs, ranking.orders))) return false;
    pace.units += unitsPerPlace;
    if (pace.isOver()) yield;
  }
  return true;
}

/** @returns null when no doc here has a value */
function* firsts(
  { query, distinct, tables, scratch, scoreOf }: Reduction,
  { docs, count }: DocHits,
): Steps<{ readonly values: ValueIds; readonly first: Int32Array } | null> {
  pace.enter('distinct', distinct.field);
  const values = yield* valueIds(tables.column(distinct.field), docs, count);
  if (values === null) return null;
  const ranking = rankingOf(query, tables, scoreOf);
  const first = yield* firstOfEach(ranking, { docs, keys: scratch.keys, count }, values);
  return { values, first };
}

/** Puts the items that stand for their values over all shards in place of those that do here. */
function* decide(
  { docs }: Tables,
  values: ValueIds,
  decided: NonNullable<CheckedDistinct['decided']>[number],
  first: Int32Array,
): Steps<void> {
  for (const { value, originId, sourceId } of decided) {
    pace.units += unitsPerDecided;
    if (pace.isOver()) yield;
    const id = values.idOf(value);
    if (id === undefined) continue;
    const known = first[id] ?? -1;
    if (
      known >= 0 &&
      compareText(docs.originIdOf(known), originId) === 0 &&
      docs.sourceIdOf(known) === sourceId
    )
      continue;
    first[id] = docs.find(sourceId, originId);
  }
}
