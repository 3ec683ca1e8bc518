/** Finds the docs of a shard that match the filter and the search of a query, with their boosted scores. */
import type { Steps } from '../../lib/cooperative-yield.ts';
import { plainAnalyzer } from '../analysis/analyzer.ts';
import { Bitmap } from '../bitmap.ts';
import type { CheckedBoost, CheckedQuery, CheckedSearch } from '../checked-query.ts';
import { bindFilter, type FilterScope } from '../filter/bind-filter.ts';
import type { FilterNode } from '../filter/condition.ts';
import { keepBy, type Matcher, siftAll, sparseShare } from '../filter/matcher.ts';
import { current } from '../phase.ts';
import type { Scratch } from '../scratch.ts';
import { WordSearch } from '../text/matching-terms.ts';
import { type DocScore, noScore } from '../text/relevance.ts';
import { type Found, runSearch } from '../text/word-search.ts';
import { withOperators } from './phrases.ts';
import type { Tables } from './tables.ts';

const dayMs = 86_400_000;

/** A list of docs: the first `count` elements. */
export interface DocHits {
  readonly docs: Int32Array;
  readonly count: number;
}

/** The result of filter and search. The matching docs are in `scratch.hits`. */
export interface Hits extends DocHits, Found {
  /** The docs that match the search, before the filter; null without a search. */
  readonly searched: DocHits | null;
}

/** The hits of a query without a search. */
export function unsearched(docs: Int32Array, count: number): Hits {
  return { docs, count, searched: null, touched: docs, touchedCount: 0, scoreOf: noScore, stats: null };
}

/** Writes the matching docs into `scratch.hits`. */
export function* findHits({ filter, search }: CheckedQuery, tables: Tables, scratch: Scratch): Steps<Hits> {
  const { hits } = scratch;
  if (search !== null) return yield* findSearched(filter, wordSearchIn(tables, search), tables, scratch);
  const count = filter === null ? tables.docs.live.list(hits) : yield* filtered(filter, tables, hits);
  return unsearched(hits, count);
}

/** A new list with the docs that match the same search and another filter. */
export function* hitsBeside(filter: FilterNode | null, tables: Tables, { searched }: Hits): Steps<DocHits> {
  const { live, docCount } = tables.docs;
  if (searched === null) {
    const docs = new Int32Array(docCount);
    return { docs, count: filter === null ? live.list(docs) : yield* filtered(filter, tables, docs) };
  }
  const docs = searched.docs.slice(0, searched.count);
  if (filter === null) return { docs, count: docs.length };
  const matcher = yield* bindFilter(filter, scopeOf(tables));
  return { docs, count: yield* keepMatching(matcher, docCount, docs, docs.length) };
}

/** Like `findHits`, for a query with this search. */
export function* findSearched(
  filter: FilterNode | null,
  words: WordSearch,
  tables: Tables,
  scratch: Scratch,
): Steps<Hits> {
  const { hits } = scratch;
  const { search } = words;
  current.enter('search');
  const matched = yield* runSearch(words, scratch);
  const found = yield* withOperators(matched, search, tables, scratch);
  const { touchedCount, stats } = found;
  const scoreOf = boosted(found.scoreOf, search, tables);
  if (filter === null || found.count === 0) {
    const { count, touched } = found;
    return { docs: hits, count, searched: { docs: hits, count }, touched, touchedCount, scoreOf, stats };
  }
  // Copy, because the filter removes docs from the list. If `touched` is the same list, it needs the copy, too.
  const searched = { docs: hits.slice(0, found.count), count: found.count };
  const touched = found.touched === hits ? searched.docs : found.touched;
  const matcher = yield* bindFilter(filter, scopeOf(tables));
  const count = yield* keepMatching(matcher, tables.docs.docCount, hits, found.count);
  return { docs: hits, count, searched, touched, touchedCount, scoreOf, stats };
}

export function wordSearchIn(tables: Tables, search: CheckedSearch): WordSearch {
  const pending = tables.pendingSearches.take(search);
  if (pending !== null) return pending;
  const fields = search.fields.map(({ field, weight }) => {
    const text = tables.fields.get(field)?.text ?? null;
    return { text, weight, analyzer: text?.analyzer ?? plainAnalyzer };
  });
  const { live, size } = tables.docs;
  return new WordSearch(search, fields, { live, count: size });
}

/** @returns how many match */
function* filtered(filter: FilterNode, tables: Tables, hits: Int32Array): Steps<number> {
  const { docCount } = tables.docs;
  const matcher = yield* bindFilter(filter, scopeOf(tables));
  const { few } = matcher;
  if (few !== null && few.count * sparseShare < docCount) {
    return yield* siftAll(few.rest, hits, few.list(hits));
  }
  const matching = new Bitmap(docCount);
  yield* matcher.scan(matching, docCount);
  return matching.list(hits);
}

/** Keeps the listed docs that match. @returns how many match */
function* keepMatching(matcher: Matcher, docCount: number, docs: Int32Array, count: number): Steps<number> {
  if (count * sparseShare < docCount) return yield* matcher.sift(docs, count);
  const matching = new Bitmap(docCount);
  yield* matcher.scan(matching, docCount);
  return keepBy((doc) => matching.has(doc), docs, count);
}

function scopeOf(tables: Tables): FilterScope {
  const { live, docCount } = tables.docs;
  return { live, docCount, column: (name) => tables.column(name) };
}

/** Multiplies scores by the boosts of a search (docs/guide/ranking.md "Boosts"). */
function boosted(scoreOf: DocScore, search: CheckedSearch, tables: Tables): DocScore {
  const boosts = boostsOf(search, tables);
  if (boosts.length === 0) return scoreOf;
  return (doc) => boosts.reduce((score, boost) => score * boost(doc), scoreOf(doc));
}

/** Functions that return the factors for the score of a doc, in order. */
export function boostsOf({ boost, nowMs }: CheckedSearch, tables: Tables): DocScore[] {
  return boost.map((one) => factorOf(one, nowMs ?? 0, tables)).filter((factor) => factor !== null);
}

/** @returns null if no item of this shard has the field */
function factorOf(
  { field, weight, halfLifeDays, originMs }: CheckedBoost,
  nowMs: number,
  tables: Tables,
): DocScore | null {
  // In descending order, the key of a list is that of its largest value, and larger values come first.
  const order = tables.column(field)?.order(true) ?? null;
  if (order === null) return null;
  const gain = halfLifeDays === null ? gainOfNumber : gainOfDate(originMs ?? nowMs, halfLifeDays * dayMs);
  return (doc) => {
    const key = order.key(doc);
    return key === Number.POSITIVE_INFINITY ? 1 : 1 + weight * gain(-key);
  };
}

function gainOfNumber(value: number): number {
  return Math.log10(1 + Math.max(0, value));
}

function gainOfDate(originMs: number, halfLifeMs: number): (value: number) => number {
  return (value) => 2 ** (-Math.abs(value - originMs) / halfLifeMs);
}
