import type { CodeColumn } from './code-column.ts';
import type { FacetTally } from './facet-tally.ts';
import { TopList } from './top-list.ts';
import type { FacetGroup, FacetGroups } from './types.ts';
import { compareValues, type PlainValue } from './value-dictionary.ts';

/** Groups that a shard sends without being asked for more. */
export const facetGroupsPerShardMax = 1000;

/** Highest count first, equal counts by value (contract section 7). */
export function compareGroups(a: FacetGroup, b: FacetGroup, isLong: boolean): number {
  if (a.count !== b.count) return b.count - a.count;
  return isLong ? compareLongs(a.value, b.value) : compareValues(a.value, b.value);
}

function compareLongs(a: PlainValue, b: PlainValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const difference = BigInt(a) - BigInt(b);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** The groups of the docs: the first `limit` of them in order, and what is known about the rest. */
export function countGroups(
  codes: CodeColumn,
  docs: Int32Array,
  docCount: number,
  tally: FacetTally,
  limit: number,
  isLong: boolean,
): FacetGroups {
  const { dictionary } = codes;
  tally.reserve(dictionary.codeCount);
  codes.tally(docs, docCount, tally);
  const compare = (a: number, b: number): number => {
    const countA = tally.countOf(a);
    const countB = tally.countOf(b);
    if (countA !== countB) return countB - countA;
    return isLong ? compareLongs(dictionary.valueOf(a), dictionary.valueOf(b)) : dictionary.compare(a, b);
  };
  const top = new TopList(Math.min(limit, tally.size), compare);
  for (let at = 0; at < tally.size; at += 1) top.offer(tally.codeAt(at));
  const groups = top.drain().map((code) => ({ value: dictionary.valueOf(code), count: tally.countOf(code) }));
  const isComplete = groups.length === tally.size;
  tally.clear();
  const restMax = groups.at(-1)?.count ?? docCount;
  return { groups, ...(isComplete ? {} : { restMax }), ...(isLong ? { isLong } : {}) };
}

/** The counts of given values among the docs; values that no doc has are left out. */
export function countValues(
  codes: CodeColumn,
  docs: Int32Array,
  docCount: number,
  tally: FacetTally,
  values: readonly PlainValue[],
): FacetGroup[] {
  tally.reserve(codes.dictionary.codeCount);
  codes.tally(docs, docCount, tally);
  const groups: FacetGroup[] = [];
  for (const value of values) {
    const code = codes.dictionary.codeOf(value);
    const count = code === undefined ? 0 : tally.countOf(code);
    if (count > 0) groups.push({ value, count });
  }
  tally.clear();
  return groups;
}
