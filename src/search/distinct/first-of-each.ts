import { type Steps, unitsPerGo, workBudget } from '../../lib/cooperative-yield.ts';
import { compareDocs, type Ranking } from '../sort/order.ts';
import type { DocList } from '../sort/top-docs.ts';
import type { ValueIds } from './value-ids.ts';

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
