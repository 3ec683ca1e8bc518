/** Finds the docs that represent the values of a field in a shard: the first doc with each value. */
import { itemsPerStep, type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { Column } from '../columns/column.ts';
import { NumberColumn } from '../columns/number-column.ts';
import { ScalarCodes } from '../columns/scalar-codes.ts';
import { wholeOfPoint } from '../fields/number-point.ts';
import type { PlainValue } from '../packed-values.ts';
import { compareDocs, type Ranking } from '../sort/order.ts';
import type { DocList } from '../sort/top-docs.ts';

/** No doc represents the value. */
const none = -1;

/**
 * The first doc of each value, in the order of a ranking.
 * @param list its `keys` are overwritten
 * @returns the doc that represents each value, by value id; -1 if no doc of the list has the value
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

/** @returns where to continue */
function compareSome(
  ranking: Ranking,
  { docs, keys, count }: DocList,
  ids: Int32Array,
  from: number,
  first: Int32Array,
  firstKeys: Float64Array,
): number {
  const end = Math.min(count, from + itemsPerStep);
  let at = from;
  while (at < end && workBudget.units < workBudget.unitsPerClockCheck) {
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

/** Small ids for the values of some docs. Equal values have the same id, regardless of their notation. */
export interface ValueIds {
  /** The value id of each doc of the list; -1 for a doc without a value. */
  readonly ids: Int32Array;
  /** All ids are below this. */
  readonly idCount: number;
  /** The value id of any doc of the shard; -1 for one without a value, or with a value that none of the listed docs has. */
  idOfDoc(doc: number): number;
  /** The value of an id, in the same form in all shards: dates as milliseconds, longs beyond 2^53 as text. */
  valueOf(id: number): PlainValue;
}

/** The cost of looking up a number, in units of the work budget. */
const unitsPerNumber = 20;

/** The value ids of the first `count` docs; null if the field has no scalar values or no doc has it. */
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
    const end = Math.min(count, at + itemsPerStep);
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

/** A long that a double cannot represent becomes text, so that each number has the same form in all shards. */
function numberAt(column: NumberColumn, doc: number): PlainValue | null {
  const approx = column.approxAt(doc);
  if (Number.isNaN(approx)) return null;
  const residual = column.residualAt(doc);
  return residual === 0 ? approx : wholeOfPoint({ approx, residual }).toString();
}
