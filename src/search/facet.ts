import type { CodeColumn } from './code-column.ts';
import type { FacetTally } from './facet-tally.ts';
import { pace, type Steps } from './pace.ts';
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

/** What comparing or making a group takes at least, in units of the pace. */
const unitsPerGroup = 10;

/** The groups of the docs: the first `limit` of them in order, and what is known about the rest. */
export function* countGroups(
  codes: CodeColumn,
  docs: Int32Array,
  docCount: number,
  tally: FacetTally,
  limit: number,
  isLong: boolean,
): Steps<FacetGroups> {
  const { dictionary } = codes;
  tally.reserve(dictionary.codeCount);
  const tallied = codes.tally(docs, 0, docCount, tally);
  if (tallied < docCount) yield* tallyRest(codes, docs, tallied, docCount, tally);
  const compare = (a: number, b: number): number => {
    pace.units += unitsPerGroup;
    const countA = tally.countOf(a);
    const countB = tally.countOf(b);
    if (countA !== countB) return countB - countA;
    return isLong ? compareLongs(dictionary.valueOf(a), dictionary.valueOf(b)) : dictionary.compare(a, b);
  };
  const top = new TopList(Math.min(limit, tally.size), compare);
  for (let at = offerSome(top, tally, 0); at < tally.size; at = offerSome(top, tally, at)) {
    if (pace.isOver()) yield;
  }
  const inOrder = top.isShort(dictionary) ? top.drain() : yield* top.drainInSteps();
  const groups = inOrder.map((code) => ({ value: dictionary.valueOf(code), count: tally.countOf(code) }));
  const isComplete = groups.length === tally.size;
  tally.clear();
  const restMax = groups.at(-1)?.count ?? docCount;
  return { groups, ...(isComplete ? {} : { restMax }), ...(isLong ? { isLong } : {}) };
}

/** @returns the place of the next code */
function offerSome(top: TopList, tally: FacetTally, from: number): number {
  const { size } = tally;
  let at = from;
  while (at < size) {
    top.offer(tally.codeAt(at));
    at += 1;
    if (pace.units >= pace.unitsPerLook) break;
  }
  pace.units += at - from;
  return at;
}

/** All groups of the docs, in no order. */
export function* countAll(
  codes: CodeColumn,
  docs: Int32Array,
  docCount: number,
  tally: FacetTally,
): Steps<FacetGroup[]> {
  tally.reserve(codes.dictionary.codeCount);
  yield* tallyRest(codes, docs, 0, docCount, tally);
  const groups: FacetGroup[] = [];
  for (let at = 0; at < tally.size; at += 1) {
    const code = tally.codeAt(at);
    groups.push({ value: codes.dictionary.valueOf(code), count: tally.countOf(code) });
    pace.units += unitsPerGroup;
    if (pace.isOver()) yield;
  }
  tally.clear();
  return groups;
}

function* tallyRest(
  codes: CodeColumn,
  docs: Int32Array,
  from: number,
  docCount: number,
  tally: FacetTally,
): Steps<void> {
  for (let at = from; at < docCount; ) {
    if (pace.isOver()) yield;
    at = codes.tally(docs, at, docCount, tally);
  }
}

/** The counts of given values among the docs; values that no doc has are left out. */
export function* countValues(
  codes: CodeColumn,
  docs: Int32Array,
  docCount: number,
  tally: FacetTally,
  values: readonly PlainValue[],
): Steps<FacetGroup[]> {
  tally.reserve(codes.dictionary.codeCount);
  yield* tallyRest(codes, docs, 0, docCount, tally);
  const groups: FacetGroup[] = [];
  for (const value of values) {
    pace.units += unitsPerGroup;
    if (pace.isOver()) yield;
    const code = codes.dictionary.codeOf(value);
    const count = code === undefined ? 0 : tally.countOf(code);
    if (count > 0) groups.push({ value, count });
  }
  tally.clear();
  return groups;
}
