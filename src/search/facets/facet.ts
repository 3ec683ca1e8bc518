import type { CodeColumn } from '../columns/code-column.ts';
import { compareValues, type PlainValue, type ValueDictionary } from '../columns/value-dictionary.ts';
import { chain, type Maybe, pace, repeat, type Steps, Unfinished } from '../pace.ts';
import type { FacetGroup, FacetGroups } from '../shard-answer.ts';
import { TopList } from '../sort/top-list.ts';
import type { FacetTally } from './tally.ts';

/** Groups that a shard sends without being asked for more. */
export const facetGroupsPerShardMax = 1000;

/** Highest count first, equal counts by value (docs/reference/indexes-and-queries.md "Facets"). */
export function compareGroups(a: FacetGroup, b: FacetGroup, isLong: boolean): number {
  if (a.count !== b.count) return b.count - a.count;
  return isLong ? compareLongs(a.value, b.value) : compareValues(a.value, b.value);
}

function compareLongs(a: PlainValue, b: PlainValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const difference = BigInt(a) - BigInt(b);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** What comparing two values or making a group takes at least, in units of the pace. */
const unitsPerGroup = 10;
/** What it takes to put a group where its count belongs, in units of the pace. */
const unitsPerOffer = 2;

/** The groups of the docs: the first `limit` of them in order, and what is known about the rest. */
export function countGroups(
  codes: CodeColumn,
  docs: Int32Array,
  docCount: number,
  tally: FacetTally,
  limit: number,
  isLong: boolean,
): Maybe<FacetGroups> {
  const tallied = tallyAll(codes, docs, docCount, tally);
  return chain(tallied, () => topGroups(codes.dictionary, docCount, tally, limit, isLong));
}

/** Of what was tallied; the tally is empty after it. */
function topGroups(
  dictionary: ValueDictionary,
  docCount: number,
  tally: FacetTally,
  limit: number,
  isLong: boolean,
): Maybe<FacetGroups> {
  const compare = (a: number, b: number): number => {
    const countA = tally.countOf(a);
    const countB = tally.countOf(b);
    if (countA !== countB) return countB - countA;
    pace.units += unitsPerGroup;
    return isLong ? compareLongs(dictionary.valueOf(a), dictionary.valueOf(b)) : dictionary.compare(a, b);
  };
  const top = new TopList(Math.min(limit, tally.size), compare);
  let offered = 0;
  const offeredAll = repeat(() => {
    offered = offerSome(top, tally, offered);
    return offered < tally.size;
  });
  const inOrder = chain(offeredAll, () => top.drain(dictionary));
  return chain(inOrder, (first) => {
    const groups = first.map((code) => ({ value: dictionary.valueOf(code), count: tally.countOf(code) }));
    const isComplete = groups.length === tally.size;
    tally.clear();
    const restMax = groups.at(-1)?.count ?? docCount;
    return { groups, ...(isComplete ? {} : { restMax }), ...(isLong ? { isLong } : {}) };
  });
}

/** @returns the place of the next code */
function offerSome(top: TopList, tally: FacetTally, from: number): number {
  const { size } = tally;
  let at = from;
  while (at < size) {
    top.offer(tally.codeAt(at));
    at += 1;
    pace.units += unitsPerOffer;
    if (pace.units >= pace.unitsPerLook) break;
  }
  return at;
}

/** All groups of the docs, in no order. */
export function countAll(
  codes: CodeColumn,
  docs: Int32Array,
  docCount: number,
  tally: FacetTally,
): Maybe<FacetGroup[]> {
  return chain(tallyAll(codes, docs, docCount, tally), () => new Unfinished(allGroups(codes, tally)));
}

function* allGroups(codes: CodeColumn, tally: FacetTally): Steps<FacetGroup[]> {
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

function tallyAll(codes: CodeColumn, docs: Int32Array, docCount: number, tally: FacetTally): Maybe<void> {
  tally.reserve(codes.dictionary.codeCount);
  let tallied = 0;
  return repeat(() => {
    tallied = codes.tally(docs, tallied, docCount, tally);
    return tallied < docCount;
  });
}

/** The counts of given values among the docs; values that no doc has are left out. */
export function countValues(
  codes: CodeColumn,
  docs: Int32Array,
  docCount: number,
  tally: FacetTally,
  values: readonly PlainValue[],
): Maybe<FacetGroup[]> {
  return chain(tallyAll(codes, docs, docCount, tally), () => new Unfinished(groupsOf(codes, tally, values)));
}

function* groupsOf(codes: CodeColumn, tally: FacetTally, values: readonly PlainValue[]): Steps<FacetGroup[]> {
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
