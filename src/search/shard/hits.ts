/** Finds the docs of a shard that match the filter and the search of a query, with their boosted scores. */

import type { Json } from '../../contract/json.ts';
import { type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import { plainAnalyzer, sharedWords } from '../analysis/analyzer.ts';
import { textOfHtml } from '../analysis/html-text.ts';
import { PhraseFinder, phraseTerm } from '../analysis/phrase-terms.ts';
import { wordPieces } from '../analysis/words.ts';
import { Bitmap } from '../bitmap.ts';
import type { CheckedBoost, CheckedQuery, CheckedSearch, SearchOperators } from '../checked-query.ts';
import { sentValue } from '../fields/paths.ts';
import { bindFilter, type FilterScope } from '../filter/bind-filter.ts';
import type { FilterNode } from '../filter/condition.ts';
import { keepBy, type Matcher, siftAll, sparseShare } from '../filter/matcher.ts';
import { current } from '../phase.ts';
import type { Scratch } from '../scratch.ts';
import type { FieldText } from '../text/field-text.ts';
import { WordSearch } from '../text/matching-terms.ts';
import { type DocRun, docOf } from '../text/postings.ts';
import { type DocScore, noScore } from '../text/relevance.ts';
import { type Found, runSearch } from '../text/word-search.ts';
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

/** The cost of reading an item, in units of the work budget, besides its characters. */
const unitsPerItem = 1000;

/**
 * Applies the quotes and hyphens of a search to `scratch.hits`. Besides removing hits it can add some: a search by exclusions
 * alone starts from all docs, and so does one by phrases in mode `any`. The inverted index has no word positions, so the texts of
 * items that have all words of a phrase are read.
 */
function* withOperators(found: Found, search: CheckedSearch, tables: Tables, scratch: Scratch): Steps<Found> {
  const { operators } = search;
  if (operators === null) return found;
  const { hits } = scratch;
  const known = new Bitmap(tables.docs.capacity);
  known.addAll(hits.subarray(0, found.count));
  const left = yield* matching(known, operators, search, tables);
  for (const text of operators.excluded) left.subtract(yield* docsWith(text, search, tables));
  const touched = found.touched === hits ? hits.slice(0, found.touchedCount) : found.touched;
  const count = left.list(hits);
  workBudget.units += count;
  const scoreOf = (doc: number) => (known.has(doc) ? found.scoreOf(doc) : 0);
  return { ...found, touched, count, scoreOf };
}

/** The matching docs before exclusions. With phrases, these determine the docs, unless every word must match. */
function* matching(
  known: Bitmap,
  { phrases, excluded }: SearchOperators,
  search: CheckedSearch,
  tables: Tables,
): Steps<Bitmap> {
  const isOnlyExclusions = excluded.length > 0 && sharedWords(search).length === 0;
  const isAny = search.mode === 'any' && phrases.length > 0;
  const left = new Bitmap(tables.docs.capacity);
  left.unite(isOnlyExclusions || isAny ? tables.docs.live : known);
  for (const phrase of phrases) left.intersect(yield* docsWith(phrase, search, tables));
  return left;
}

/** The docs with a phrase in one of the searched fields, normalized for each field. */
function* docsWith(phrase: string, { fields }: CheckedSearch, tables: Tables): Steps<Bitmap> {
  const docs = new Bitmap(tables.docs.capacity);
  for (const { field } of fields) {
    const text = tables.fields.get(field)?.text ?? null;
    if (text === null) continue;
    const words = text.analyzer.terms(phrase);
    const having = yield* docsWithAll(words, text, tables);
    if (words.length > 1) yield* keepPhrase(phraseTerm(words), having, field, text, tables);
    docs.unite(having);
  }
  return docs;
}

const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };

/** The live docs that have each of the words. */
function* docsWithAll(words: readonly string[], text: FieldText, tables: Tables): Steps<Bitmap> {
  const { terms, postings } = text.words;
  const docs = new Bitmap(tables.docs.capacity);
  if (words.length === 0) return docs;
  docs.unite(tables.docs.live);
  for (const word of new Set(words)) {
    const having = new Bitmap(tables.docs.capacity);
    for (const termId of terms.termIdsOf(word)) {
      postings.show(termId, run);
      for (let at = run.from; at < run.end; at += 1) having.add(docOf(run.docs[at] ?? 0));
      workBudget.units += run.end - run.from;
    }
    docs.intersect(having);
    if (workBudget.isOver()) yield;
  }
  return docs;
}

/** Removes docs whose words are not adjacent. */
function* keepPhrase(
  term: string,
  docs: Bitmap,
  field: string,
  text: FieldText,
  tables: Tables,
): Steps<void> {
  const finder = new PhraseFinder([term]);
  const list = new Int32Array(docs.countUpTo(Number.POSITIVE_INFINITY));
  docs.list(list);
  for (const doc of list) {
    const made = tables.docs.readFields(doc);
    const fields = made instanceof Suspended ? yield* made.steps : made;
    workBudget.units += unitsPerItem;
    const value = sentValue(fields, field);
    const sent = value instanceof Suspended ? yield* value.steps : value;
    if (!(yield* hasPhrase(sent, finder, text))) docs.remove(doc);
    if (workBudget.isOver()) yield;
  }
}

function* hasPhrase(value: Json, finder: PhraseFinder, { analyzer }: FieldText): Steps<boolean> {
  for (const sent of Array.isArray(value) ? value : [value]) {
    if (typeof sent !== 'string') continue;
    const text = analyzer.isHtml ? yield* textOfHtml(sent) : sent;
    const next = finder.walk();
    for (const piece of wordPieces(text, analyzer.cutter)) {
      for (const raw of piece) {
        const word = analyzer.word(raw);
        if (word !== '' && next(word).length > 0) return true;
      }
      if (workBudget.isOver()) yield;
    }
  }
  return false;
}
