/**
 * The first answer of a shard to a search over several shards. It has the statistics of this shard. If few items match, it also
 * has the inputs of their scores, which avoids a second round.
 */
import { unscoredBytesMax, unscoredFrequenciesMax, unscoredItemsMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery } from '../checked-query.ts';
import { current } from '../phase.ts';
import type { Scratch } from '../scratch.ts';
import type { UnscoredAnswer, UnscoredRow } from '../shard-answer.ts';
import type { SearchedWord, TermGroup, Tiers, WordSearch } from '../text/matching-terms.ts';
import { type DocRun, docOf, unitsPerTerm } from '../text/postings.ts';
import { tierCount } from '../text/relevance.ts';
import { statsOf } from '../text/word-search.ts';
import { facetsOf } from './facet-groups.ts';
import { boostsOf, findSearched, type Hits, wordSearchIn } from './hits.ts';
import { placeOf, rankingOf } from './ranking.ts';
import type { Tables } from './tables.ts';

/** Searches with more postings are not run, because the work would be wasted if they find many items. */
const postingsMax = 2_000;

/** The inputs of scores are integers that depend only on the items here, so the front can score them with a `Scorer`. */
export function* unscoredAnswer(
  query: CheckedQuery,
  tables: Tables,
  scratch: Scratch,
  facetGroupsMax: number,
): Steps<UnscoredAnswer> {
  const { search, filter } = query;
  assert(search !== null, 'only a search has scores');
  current.enter('search');
  const words = wordSearchIn(tables, search);
  if (!(yield* mayBeFew(query, words))) {
    const stats = yield* statsOf(words, scratch);
    tables.pendingSearches.add(words);
    return { stats, few: null };
  }
  const hits = yield* findSearched(filter, words, tables, scratch);
  const few = areFew(hits, words)
    ? yield* fewItems(query, words, tables, scratch, hits, facetGroupsMax)
    : null;
  scratch.clear(hits.touched, hits.touchedCount);
  assert(hits.stats !== null, 'a search has statistics');
  if (few === null) tables.pendingSearches.add(words);
  return { stats: hits.stats, few };
}

/** False for a search that finds many items or may take long. */
function* mayBeFew({ filter, distinct, highlight, after }: CheckedQuery, words: WordSearch): Steps<boolean> {
  if (distinct !== null || highlight !== null || after !== null) return false;
  const { mode, prefix, literal, operators } = words.search;
  // Finding words with misspelled prefixes takes longest and finds most.
  if (prefix && !literal) return false;
  const findsAll = mode === 'any' && filter === null && operators === null;
  const literalMax = findsAll ? unscoredItemsMax * words.fields.length : postingsMax;
  // Terms without typos are found faster.
  const areFewLiterally = yield* haveFewPostings(words, literalMax, (word) => word.firstTiers());
  return areFewLiterally && (yield* haveFewPostings(words, postingsMax, (word) => word.tiers()));
}

/** Reused for the postings of one term at a time. */
const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };

/** True if the terms of the words have at most `max` postings. */
function* haveFewPostings(
  { words }: WordSearch,
  max: number,
  tiersOf: (word: SearchedWord) => Steps<readonly Tiers[]>,
): Steps<boolean> {
  let left = max;
  for (const word of words) {
    left -= postingsIn(yield* tiersOf(word), left);
    if (left < 0) return false;
  }
  return true;
}

/** Number of postings; stops counting above `enough`. */
function postingsIn(ofFields: readonly Tiers[], enough: number): number {
  let count = 0;
  for (const { index, termIds } of ofFields.flat(2)) {
    for (const termId of termIds) {
      index.postings.show(termId, run);
      count += run.end - run.from;
      workBudget.units += unitsPerTerm;
      if (count > enough) return count;
    }
  }
  return count;
}

function areFew({ count }: Hits, { words, fields }: WordSearch): boolean {
  const frequencies = count * words.length * fields.length * tierCount;
  return count <= unscoredItemsMax && frequencies <= unscoredFrequenciesMax;
}

function* fewItems(
  query: CheckedQuery,
  words: WordSearch,
  tables: Tables,
  scratch: Scratch,
  hits: Hits,
  facetGroupsMax: number,
): Steps<UnscoredAnswer['few']> {
  const { docs: table } = tables;
  const { orders } = rankingOf(query, tables, hits.scoreOf);
  const boosts = boostsOf(words.search, tables);
  const facets = yield* facetsOf(
    { query, tables, scratch, hits, left: hits, reduction: null },
    facetGroupsMax,
  );
  current.enter('search');
  const frequencies = yield* frequenciesIn(words, hits.docs, hits.count, scratch);
  const rows: UnscoredRow[] = [];
  let bytes = 0;
  for (const [at, ofDoc] of frequencies.entries()) {
    const doc = hits.docs[at] ?? 0;
    const fieldsBytes = table.textBytesOf(doc);
    bytes += fieldsBytes.length;
    if (bytes > unscoredBytesMax) return null;
    rows.push({
      place: placeOf(doc, table, orders),
      updatedAtMs: table.updatedAtMsOf(doc),
      fieldsBytes,
      inputs: {
        frequencies: ofDoc,
        lengths: words.fields.map(({ text }) => text?.counts.byDoc[doc] ?? 0),
        boosts: boosts.map((boost) => boost(doc)),
      },
    });
  }
  return { rows, facets };
}

/**
 * The frequencies of the words in the first `count` docs of a list, in the order of the list.
 * @param docs few, and not `scratch.search().ofWord`
 */
function* frequenciesIn(
  { words, fields }: WordSearch,
  docs: Int32Array,
  count: number,
  scratch: Scratch,
): Steps<number[][]> {
  const perDoc = words.length * fields.length * tierCount;
  const frequencies = Array.from({ length: count }, () => new Array<number>(perDoc).fill(0));
  // The position of each doc. For docs that are not in the list, the value is arbitrary.
  const positions = scratch.search().ofWord;
  for (let position = 0; position < count; position += 1) positions[docs[position] ?? 0] = position;
  const ofDoc = (doc: number) => {
    const position = positions[doc] ?? 0;
    return docs[position] === doc ? frequencies[position] : undefined;
  };
  let at = 0;
  for (const word of words) {
    for (const tiers of yield* word.tiers()) {
      for (let tier = 0; tier < tierCount; tier += 1) {
        for (const group of tiers[tier] ?? []) addGroup(group, at + tier, ofDoc);
      }
      at += tierCount;
    }
    if (workBudget.isOver()) yield;
  }
  return frequencies;
}

/** Adds the frequencies of the terms. @param at index in the frequencies of a doc */
function addGroup(
  { index: { postings }, termIds, factor }: TermGroup,
  at: number,
  ofDoc: (doc: number) => number[] | undefined,
): void {
  for (const termId of termIds) {
    postings.show(termId, run);
    for (let next = run.from; next < run.end; next += 1) {
      const posting = run.docs[next] ?? 0;
      const frequencies = ofDoc(docOf(posting));
      if (frequencies === undefined) continue;
      frequencies[at] = (frequencies[at] ?? 0) + factor * postings.frequency(termId, posting);
    }
    workBudget.units += unitsPerTerm + run.end - run.from;
  }
}
