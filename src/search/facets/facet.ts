import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CodeColumn } from '../columns/code-column.ts';
import type { CodeTally } from '../columns/code-tally.ts';
import { compareValues, type ValueDictionary } from '../columns/value-dictionary.ts';
import { parseDate } from '../fields/date-text.ts';
import type { PlainValue } from '../packed-values.ts';
import type { FacetGroup, FacetGroups, TextScale } from '../shard-answer.ts';
import { TopHeap } from '../sort/top-docs.ts';

/** Default number of groups that a shard sends. */
export const facetGroupsPerShardMax = 1000;

/** Compares groups: highest count first, equal counts by value (docs/reference/indexes-and-queries.md "Facets"). */
export function compareGroups(a: FacetGroup, b: FacetGroup, scale: TextScale | undefined): number {
  if (a.count !== b.count) return b.count - a.count;
  if (scale === 'long') return compareLongs(a.value, b.value);
  return scale === 'date' ? compareMoments(a.value, b.value) : compareValues(a.value, b.value);
}

function compareLongs(a: PlainValue, b: PlainValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const difference = BigInt(a) - BigInt(b);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** The minimum cost of comparing two values or creating a group, in units of the work budget. */
const unitsPerGroup = 10;
/** The cost of offering a group to the heap, in units of the work budget. */
const unitsPerOffer = 2;

/** The input of a facet. */
export interface FacetScope {
  readonly codes: CodeColumn;
  readonly scale: TextScale | undefined;
  /** True if the field has dates in several notations. */
  readonly hasMixedDates: boolean;
  /** The first `docCount` match the query. */
  readonly docs: Int32Array;
  readonly docCount: number;
  /** Must be empty, and is empty again afterwards. */
  readonly tally: CodeTally;
}

/** The first `limit` groups in order, and a bound on the counts of the others. */
export function* countGroups(scope: FacetScope, limit: number): Steps<FacetGroups> {
  yield* tallyAll(scope);
  const { codes, docCount, tally, scale } = scope;
  const { dictionary } = codes;
  const compare = codeOrder(scope);
  const top = new TopHeap(Math.min(limit, tally.size), (a, b) => {
    workBudget.units += unitsPerGroup;
    return compare(a, b);
  });
  for (let offered = 0; offered < tally.size; ) {
    offered = offerSome(top, tally, offered);
    if (workBudget.isOver()) yield;
  }
  const first = yield* top.drain();
  const groups = Array.from(first, (code) => ({
    value: dictionary.valueOf(code),
    count: tally.countOf(code),
  }));
  const isComplete = groups.length === tally.size;
  tally.clear();
  const restMax = groups.at(-1)?.count ?? docCount;
  return { groups, ...(isComplete ? {} : { restMax }), ...(scale === undefined ? {} : { scale }) };
}

/** Compares the values of codes. */
function codeOrder({
  codes: { dictionary },
  scale,
  hasMixedDates,
}: FacetScope): (a: number, b: number) => number {
  if (scale === 'long') return (a, b) => compareLongs(dictionary.valueOf(a), dictionary.valueOf(b));
  if (hasMixedDates) return (a, b) => compareMoments(dictionary.valueOf(a), dictionary.valueOf(b));
  // Dates with the same format sort like their texts.
  return (a, b) => dictionary.compare(a, b);
}

/** @returns the index of the next code */
function offerSome(top: TopHeap, tally: CodeTally, from: number): number {
  const { size } = tally;
  let at = from;
  while (at < size) {
    const code = tally.codeAt(at);
    const key = -tally.countOf(code);
    if (key <= top.lastKey) top.offer(code, key);
    at += 1;
    workBudget.units += unitsPerOffer;
    if (workBudget.units >= workBudget.unitsPerClockCheck) break;
  }
  return at;
}

/** All groups, unordered. */
export function* countAll(scope: FacetScope): Steps<FacetGroup[]> {
  yield* tallyAll(scope);
  const { codes, tally } = scope;
  const groups: FacetGroup[] = [];
  for (let at = 0; at < tally.size; at += 1) {
    const code = tally.codeAt(at);
    groups.push({ value: codes.dictionary.valueOf(code), count: tally.countOf(code) });
    workBudget.units += unitsPerGroup;
    if (workBudget.isOver()) yield;
  }
  tally.clear();
  return groups;
}

/** The counts of the given values. Leaves out values that no doc has. */
export function* countValues(scope: FacetScope, values: readonly PlainValue[]): Steps<FacetGroup[]> {
  if (scope.scale === 'date') return yield* countDates(scope, values);
  yield* tallyAll(scope);
  const { codes, tally } = scope;
  const groups: FacetGroup[] = [];
  for (const value of values) {
    workBudget.units += unitsPerGroup;
    if (workBudget.isOver()) yield;
    const code = codes.dictionary.codeOf(value);
    const count = code < 0 ? 0 : tally.countOf(code);
    if (count > 0) groups.push({ value, count });
  }
  tally.clear();
  return groups;
}

/** The counts of the given dates, which may have other notations here. */
function* countDates(scope: FacetScope, dates: readonly PlainValue[]): Steps<FacetGroup[]> {
  const asked = new Set(dates.map(momentOf));
  const all = yield* countAll(scope);
  return all.filter(({ value }) => asked.has(momentOf(value)));
}

function* tallyAll({ codes, docs, docCount, tally, hasMixedDates }: FacetScope): Steps<void> {
  tally.reserve(codes.dictionary.codeCount);
  for (let tallied = 0; tallied < docCount; ) {
    tallied = codes.tally(docs, tallied, docCount, tally);
    if (workBudget.isOver()) yield;
  }
  if (hasMixedDates) yield* joinMoments(codes.dictionary, tally);
}

/** The cost of parsing a date, in units of the work budget. */
const unitsPerDate = 50;

/**
 * The moment of a date, by which dates are grouped whatever their notation; any other value stays as it is. The value of a group
 * is the first of the notations that the items have, numbers before strings.
 */
export function momentOf(notation: PlainValue): PlainValue {
  return parseDate(notation) ?? notation;
}

/** Orders dates by their moments. */
function compareMoments(a: PlainValue, b: PlainValue): number {
  workBudget.units += unitsPerDate;
  return compareValues(momentOf(a), momentOf(b));
}

/** The first notation of each moment. */
export function firstNotations(notations: Iterable<PlainValue>): PlainValue[] {
  const first = new Map<PlainValue, PlainValue>();
  for (const notation of notations) {
    const moment = momentOf(notation);
    const known = first.get(moment);
    if (known === undefined || compareValues(notation, known) < 0) first.set(moment, notation);
  }
  return [...first.values()];
}

const otherFormat = 'other';
/** A day; a second, with `Z` or without; a millisecond with `Z`. */
const usualFormat = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3}Z|Z?))?$/;

/** The format of a date. Two notations of one moment have different formats, or `otherFormat`. */
export function dateFormat(notation: PlainValue): string {
  if (typeof notation !== 'string') return typeof notation;
  return usualFormat.test(notation) ? String(notation.length) : otherFormat;
}

/** True if dates with these formats may have several notations of one moment. */
export function areMixed(formats: ReadonlySet<string>): boolean {
  return formats.size > 1 || formats.has(otherFormat);
}

/** Merges the counts of each moment into its first notation. */
function* joinMoments(dictionary: ValueDictionary, tally: CodeTally): Steps<void> {
  const codes = new Map<PlainValue, number>();
  for (let at = 0; at < tally.size; at += 1) {
    const code = tally.codeAt(at);
    const notation = dictionary.valueOf(code);
    const moment = momentOf(notation);
    const known = codes.get(moment) ?? code;
    const isFirst = compareValues(notation, dictionary.valueOf(known)) < 0;
    if (known !== code) tally.join(isFirst ? known : code, isFirst ? code : known);
    codes.set(moment, isFirst ? code : known);
    workBudget.units += unitsPerDate;
    if (workBudget.isOver()) yield;
  }
  tally.leaveOutEmpty();
}

/** Gives each moment the same notation in the groups of all shards: the first one. */
export function unifyNotations(parts: readonly FacetGroups[]): FacetGroups[] {
  const notations = firstNotations(parts.flatMap(({ groups }) => groups.map(({ value }) => value)));
  const byMoment = new Map(notations.map((notation) => [momentOf(notation), notation]));
  return parts.map((part) => ({
    ...part,
    groups: part.groups.map(({ value, count }) => ({ value: byMoment.get(momentOf(value)) ?? value, count })),
  }));
}
