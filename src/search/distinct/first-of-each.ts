/** The docs that stand for the values of a field in a shard: of each value the first doc, by small numbers for the values. */
import { type Steps, unitsPerGo, workBudget } from '../../lib/cooperative-yield.ts';
import type { Column } from '../columns/column.ts';
import { NumberColumn } from '../columns/number-column.ts';
import { ScalarCodes } from '../columns/scalar-codes.ts';
import { wholeOfPoint } from '../fields/number-point.ts';
import type { PlainValue } from '../packed-values.ts';
import { compareDocs, type Ranking } from '../sort/order.ts';
import type { DocList } from '../sort/top-docs.ts';

/** No doc stands for the value. */
const none = -1;

/**
 * The first doc of each value, in the order of a ranking.
 * @param list its `keys` are overwritten
 * @returns by the id of a value the doc that stands for it; -1 where no doc of the list has the value
 */
export function* firstOfEach(ranking: Ranking, list: DocList, values: ValueIds): Steps<Int32Array> {
  const { docs, keys, count } = list;
  const [order] = ranking.orders;
  for (let at = 0; at < count && order !== undefined; ) {
    at = order.keys(docs, at, count, keys);
    if (workBudget.isOver()) yield;
  }
  const first = new Int32Array(values.idCount).fill(none);
  const firstKeys = new Float64Array(values.idCount);
  for (let at = 0; at < count; ) {
    at = compareSome(ranking, list, values.ids, at, first, firstKeys);
    if (workBudget.isOver()) yield;
  }
  return first;
}

/** @returns how far it got */
function compareSome(
  ranking: Ranking,
  { docs, keys, count }: DocList,
  ids: Int32Array,
  from: number,
  first: Int32Array,
  firstKeys: Float64Array,
): number {
  const end = Math.min(count, from + unitsPerGo);
  let at = from;
  while (at < end && workBudget.units < workBudget.unitsPerLook) {
    const id = ids[at] ?? none;
    const doc = docs[at] ?? 0;
    const key = keys[at] ?? 0;
    at += 1;
    workBudget.units += 1;
    if (id === none) continue;
    const known = first[id] ?? none;
    const knownKey = firstKeys[id] ?? 0;
    if (known !== none && (knownKey < key || (knownKey === key && compareDocs(ranking, known, doc) < 0)))
      continue;
    first[id] = doc;
    firstKeys[id] = key;
  }
  return at;
}

/** The values of some docs as small numbers: equal values have the same one, in whatever form they were sent. */
export interface ValueIds {
  /** The id of each doc of the list; -1 for a doc without the value. */
  readonly ids: Int32Array;
  /** All ids are below this. */
  readonly idCount: number;
  /** The id of any doc of the shard; -1 for one without the value, or with one that none of the docs has. */
  idOfDoc(doc: number): number;
  /** The value of an id, the same in all shards: dates are milliseconds, longs beyond 2^53 text. */
  valueOf(id: number): PlainValue;
}

/** The cost of looking a number up, in units of the work budget. */
const unitsPerNumber = 20;

/** The ids of the values of the first `count` docs; null for a field that has no single values, or that no doc has. */
export function* valueIds(
  column: Column | undefined,
  docs: Int32Array,
  count: number,
): Steps<ValueIds | null> {
  if (column instanceof ScalarCodes) return yield* codeIds(column, docs, count);
  return column instanceof NumberColumn ? yield* numberIds(column, docs, count) : null;
}

function* codeIds(column: ScalarCodes, docs: Int32Array, count: number): Steps<ValueIds> {
  const { dictionary } = column;
  const ids = new Int32Array(count);
  for (let at = 0; at < count; ) {
    const end = Math.min(count, at + unitsPerGo);
    workBudget.units += end - at;
    for (; at < end; at += 1) ids[at] = column.codeAt(docs[at] ?? 0);
    if (workBudget.isOver()) yield;
  }
  return {
    ids,
    idCount: dictionary.codeCount,
    idOfDoc: (doc) => column.codeAt(doc),
    valueOf: (id) => dictionary.valueOf(id),
  };
}

function* numberIds(column: NumberColumn, docs: Int32Array, count: number): Steps<ValueIds> {
  const ids = new Int32Array(count);
  const known = new Map<PlainValue, number>();
  const values: PlainValue[] = [];
  for (let at = 0; at < count; at += 1) {
    workBudget.units += unitsPerNumber;
    if (workBudget.isOver()) yield;
    const value = numberAt(column, docs[at] ?? 0);
    const id = value === null ? -1 : known.get(value);
    ids[at] = id ?? values.length;
    if (id !== undefined || value === null) continue;
    known.set(value, values.length);
    values.push(value);
  }
  return {
    ids,
    idCount: values.length,
    idOfDoc: (doc) => known.get(numberAt(column, doc) ?? '') ?? -1,
    valueOf: (id) => values[id] ?? 0,
  };
}

/** A long that is not a double is text. So each number has one form, whichever shard gives it. */
function numberAt(column: NumberColumn, doc: number): PlainValue | null {
  const approx = column.approxAt(doc);
  if (Number.isNaN(approx)) return null;
  const residual = column.residualAt(doc);
  return residual === 0 ? approx : wholeOfPoint({ approx, residual }).toString();
}
