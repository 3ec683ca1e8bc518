/** A shard's answer to one question, encoded for the front. */

import type { KeyObject } from 'node:crypto';
import type { Steps } from '../../lib/cooperative-yield.ts';
import { type Analyzer, plainAnalyzer } from '../../search/analysis/analyzer.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import { distinctValuesMax } from '../../search/distinct/sent-place.ts';
import { facetGroupsPerShardMax } from '../../search/facets/facet.ts';
import { Highlighter } from '../../search/highlight/highlighter.ts';
import { current } from '../../search/phase.ts';
import type { Shard } from '../../search/shard/shard.ts';
import type { FacetGroups, ShardAnswer, ShownRow } from '../../search/shard-answer.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import { pinOf, sealToken, tokenUse } from '../next-page-token.ts';
import { encodeFirsts, encodePlaces } from '../protocol/distinct-answer.ts';
import { encodeCounts } from '../protocol/further-answers.ts';
import { encodeAnswer, encodeWholeAnswer, fieldsDigest, sendsTexts } from '../protocol/row-answer.ts';
import { distinctTooLarge, encodeRefusal, pageTooLarge } from '../protocol/shard-reply.ts';
import type { ShardQuery, ShardQuestion } from '../protocol/shard-request.ts';
import { encodeStats, searchWithoutStats } from '../protocol/stats-answer.ts';
import type { MessageBody } from '../transport/messages.ts';

export interface AnswerOptions {
  /** Key that signs tokens. */
  readonly secret: KeyObject;
  /** True if this worker has all partitions. */
  readonly hasAllPartitions: boolean;
}

type Question<Kind extends ShardQuestion['kind']> = Extract<ShardQuestion, { readonly kind: Kind }>;

const nothingFound: ShardAnswer = { total: 0, rows: [], facets: [], valueCount: 0, stats: null };

/** Answers the question of a query. @param shard null if this worker has no items of the index */
export function answerQuestion(
  { question, scope, index }: ShardQuery,
  shard: Shard | null,
  options: AnswerOptions,
): Steps<MessageBody> {
  switch (question.kind) {
    case 'answer':
      return answered(question, { scope, index }, shard, options);
    case 'counts':
      return counted(question, shard);
    case 'places':
      return encodePlaces(question.query, question.rows, shard);
    case 'texts':
      return texts(question, shard);
  }
}

function* answered(
  { query, isText }: Question<'answer'>,
  index: ScopedIndex,
  shard: Shard | null,
  { secret, hasAllPartitions }: AnswerOptions,
): Steps<MessageBody> {
  if (!hasAllPartitions && searchWithoutStats(query) !== null) return yield* encodeStats(query, shard);
  if (!hasAllPartitions && query.distinct?.beaten === null) return yield* encodeFirsts(query, shard);
  // With all partitions, the first groups are the result. Otherwise the merge needs more groups than requested.
  const groupsMax = hasAllPartitions ? 0 : facetGroupsPerShardMax;
  const found = shard === null ? nothingFound : yield* shard.answer(query, groupsMax);
  if (hasAllPartitions && found.valueCount > distinctValuesMax(query)) return encodeRefusal(distinctTooLarge);
  current.enter('page');
  const isShown = hasAllPartitions || sendsTexts(query);
  const shown = isShown ? yield* withHighlights(found, query, analyzersIn(shard)) : found;
  if (shown === null) return encodeRefusal(pageTooLarge);
  const terms = { index: index.index, query, hasAllPartitions };
  if (!hasAllPartitions || !isText) return yield* encodeAnswer(shown, terms);
  const pin = pinOf(query, shown.stats);
  return yield* encodeWholeAnswer(shown, terms, (last) =>
    sealToken(secret, tokenUse(index, query), last, pin),
  );
}

/** Adds highlights to the rows of the page. @returns null if they are too large */
function* withHighlights(
  answer: ShardAnswer,
  query: CheckedQuery,
  analyzerOf: (field: string) => Analyzer,
): Steps<ShardAnswer | null> {
  const highlighter = Highlighter.of(query, analyzerOf);
  if (highlighter === null) return answer;
  const rows: ShownRow[] = answer.rows.slice(0, query.offset);
  for (const { place, score, updatedAtMs, fieldsBytes } of answer.rows.slice(query.offset)) {
    rows.push({ place, score, updatedAtMs, fieldsBytes: yield* highlighter.highlighted(fieldsBytes) });
    if (highlighter.isExceeded) return null;
  }
  return { ...answer, rows };
}

/** Null for a row whose fields differ from those that were ranked. */
function* texts({ query, rows }: Question<'texts'>, shard: Shard | null): Steps<MessageBody> {
  current.enter('page');
  const highlighter = Highlighter.of(query, analyzersIn(shard));
  const all: (Buffer | null)[] = [];
  for (const { sourceId, originId, digest } of rows) {
    const fields = shard?.fieldsBytesOf(sourceId, originId) ?? null;
    const shown = fields === null || highlighter === null ? fields : yield* highlighter.highlighted(fields);
    if (highlighter?.isExceeded) return encodeRefusal(pageTooLarge);
    const ranked = sendsTexts(query) ? shown : fields;
    all.push(ranked !== null && (digest == null || fieldsDigest(ranked) === digest) ? shown : null);
  }
  return all;
}

function* counted({ query, facets }: Question<'counts'>, shard: Shard | null): Steps<MessageBody> {
  const counts: FacetGroups[] = [];
  for (const { facetIndex, values } of facets) {
    counts.push(shard === null ? { groups: [] } : yield* shard.counts(query, facetIndex, values));
  }
  current.enter('page');
  return yield* encodeCounts(counts);
}

function analyzersIn(shard: Shard | null): (field: string) => Analyzer {
  return (field) => shard?.analyzerOf(field) ?? plainAnalyzer;
}
