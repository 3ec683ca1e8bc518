import { Bitmap } from '../bitmap.ts';
import type { CheckedQuery, FilterNode } from '../checked-query.ts';
import { bindFilter, type FilterScope } from '../filter/bind-filter.ts';
import { type Matcher, sparseShare } from '../filter/matcher.ts';
import { keepBy, siftAll } from '../filter/sift.ts';
import { pace, type Steps } from '../pace.ts';
import { runSearch } from '../text/word-search.ts';
import type { Scratch } from './scratch.ts';
import type { Tables } from './tables.ts';

/** The result of filter and search. The docs that match are the first `count` of `scratch.hits`. */
export interface Hits {
  readonly count: number;
  /** The first `foundCount` docs have a score, which must be set back. */
  readonly found: Int32Array;
  readonly foundCount: number;
}

/** Puts the docs that match into `scratch.hits`, and the scores of a search into `scratch.scores`. */
export function* findHits({ filter, search }: CheckedQuery, tables: Tables, scratch: Scratch): Steps<Hits> {
  const { hits } = scratch;
  if (search !== null) return yield* searched(filter, search, tables, scratch);
  const count = filter === null ? tables.docs.live.list(hits) : yield* filtered(filter, tables, hits);
  return { count, found: hits, foundCount: 0 };
}

function* searched(
  filter: FilterNode | null,
  search: NonNullable<CheckedQuery['search']>,
  tables: Tables,
  scratch: Scratch,
): Steps<Hits> {
  const { hits } = scratch;
  const text = tables.fields.get(search.field)?.text ?? null;
  if (text === null) return { count: 0, found: hits, foundCount: 0 };
  pace.enter('search');
  const foundCount = yield* runSearch(text, search, tables.docs.live, scratch);
  if (filter === null || foundCount === 0) return { count: foundCount, found: hits, foundCount };
  const found = hits.slice(0, foundCount);
  const matcher = yield* bindFilter(filter, scopeOf(tables));
  const count = yield* keepMatching(matcher, tables.docs.docCount, hits, foundCount);
  return { count, found, foundCount };
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
