/**
 * The first answer of a shard to a search over several shards. It has the statistics of this shard. If few items match, it also
 * has the inputs of their scores, which avoids a second round.
 */
import { unscoredBytesMax, unscoredFrequenciesMax, unscoredItemsMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery } from '../checked-query.ts';
import { current } from '../phase.ts';
import type { Scratch } from '../scratch.ts';
import type { UnscoredAnswer, UnscoredRow } from '../shard-answer.ts';
import type { WordSearch } from '../text/matching-terms.ts';
import { tierCount } from '../text/relevance.ts';
import {
  frequenciesIn,
  hasFewPostings,
  hasFewPostingsWithoutTypos,
  lengthsOf,
} from '../text/score-inputs.ts';
import { facetsOf } from './facet-groups.ts';
import { boostsOf, findSearched, type Hits, searchStats, wordSearchIn } from './hits.ts';
import { placeOf, rankingOf } from './ranking.ts';
import type { Tables } from './tables.ts';

/** Searches with more postings are not run, because the work would be wasted if they find many items. */
const postingsMax = 2_000;

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
    const stats = yield* searchStats(words, scratch);
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
  return (
    (yield* hasFewPostingsWithoutTypos(words, literalMax)) && (yield* hasFewPostings(words, postingsMax))
  );
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
        lengths: lengthsOf(words, doc),
        boosts: boosts.map((boost) => boost(doc)),
      },
    });
  }
  return { rows, facets };
}
