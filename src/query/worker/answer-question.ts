/** A shard's answer to one question, encoded for the front. */

import type { KeyObject } from 'node:crypto';
import { chain, mapInTurn, type Resumable, Suspended } from '../../lib/cooperative-yield.ts';
import { type Analyzer, plainAnalyzer } from '../../search/analysis/analyzer.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import { distinctValuesMax } from '../../search/distinct/sent-place.ts';
import { facetGroupsPerShardMax } from '../../search/facets/facet.ts';
import { Highlighter } from '../../search/highlight/highlighter.ts';
import { current } from '../../search/phase.ts';
import type { Shard } from '../../search/shard/shard.ts';
import type { ShardAnswer, ShownAnswer, ShownRow } from '../../search/shard-answer.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import { pinOf, sealToken, tokenUse } from '../next-page-token.ts';
import { encodeFirsts, encodePlaces } from '../protocol/distinct-answer.ts';
import { encodeCounts, encodeTexts } from '../protocol/further-answers.ts';
import { distinctTooLarge, encodeRefusal, pageTooLarge } from '../protocol/refusal.ts';
import { encodeAnswer, encodeWholeAnswer, sendsTexts } from '../protocol/row-answer.ts';
import type { ShardQuery, ShardQuestion } from '../protocol/shard-request.ts';
import { encodeStats, searchWithoutStats } from '../protocol/stats-answer.ts';
import type { MessageBody } from '../transport/messages.ts';

export interface AnswerOptions {
  /** Key that signs tokens. */
  readonly secret: KeyObject;
  /** True if this worker has all partitions. */
  readonly isWhole: boolean;
}

type Question<Kind extends ShardQuestion['kind']> = Extract<ShardQuestion, { readonly kind: Kind }>;

const nothingFound: ShardAnswer = { total: 0, rows: [], facets: [], valueCount: 0, stats: null };

/** Answers the question of a query, in steps. @param shard null if this worker has no items of the index */
export function answerQuestion(
  { question, scope, index }: ShardQuery,
  shard: Shard | null,
  options: AnswerOptions,
): Resumable<MessageBody> {
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

function answered(
  { query, isText }: Question<'answer'>,
  index: ScopedIndex,
  shard: Shard | null,
  { secret, isWhole }: AnswerOptions,
): Resumable<MessageBody> {
  const unscored = isWhole ? null : searchWithoutStats(query);
  if (unscored !== null) return encodeStats(query, shard);
  if (query.distinct?.beaten === null && !isWhole) return encodeFirsts(query, shard);
  // With all partitions, the first groups are the result. Otherwise the merge needs more groups than requested.
  const groupsMax = isWhole ? 0 : facetGroupsPerShardMax;
  const answer = shard === null ? nothingFound : shard.answer(query, groupsMax);
  const terms = { index: index.index, query, isWhole };
  const analyzerOf = analyzersIn(shard);
  return chain(answer, (found) => {
    if (isWhole && found.valueCount > distinctValuesMax(query)) return encodeRefusal(distinctTooLarge);
    current.enter('page');
    return chain(withHighlights(found, query, isWhole, analyzerOf), (shown) => {
      if (shown === null) return encodeRefusal(pageTooLarge);
      if (!isWhole || !isText) return encodeAnswer(shown, terms);
      const pin = pinOf(query, shown.stats);
      return encodeWholeAnswer(shown, terms, (last) => sealToken(secret, tokenUse(index, query), last, pin));
    });
  });
}

/** Adds highlights to the rows if their texts are sent. @returns null if they are too large */
function withHighlights(
  answer: ShardAnswer,
  query: CheckedQuery,
  isWhole: boolean,
  analyzerOf: (field: string) => Analyzer,
): Resumable<ShownAnswer | null> {
  const highlighter = Highlighter.of(query, analyzerOf);
  if (highlighter === null || !(isWhole || sendsTexts(query))) return answer;
  const rows = mapInTurn(answer.rows, (row, at): Resumable<ShownRow> => {
    if (at < query.offset || highlighter.isExceeded) return row;
    const { place, score, updatedAtMs } = row;
    return chain(new Suspended(highlighter.highlighted(row.fieldsBytes)), (fieldsBytes) => {
      return { place, score, updatedAtMs, fieldsBytes };
    });
  });
  return chain(rows, (shown) => (highlighter.isExceeded ? null : { ...answer, rows: shown }));
}

function texts({ query, rows }: Question<'texts'>, shard: Shard | null): Resumable<MessageBody> {
  current.enter('page');
  const highlighter = Highlighter.of(query, analyzersIn(shard));
  const all = mapInTurn(rows, ({ sourceId, originId }): Resumable<Buffer | null> => {
    const fields = shard?.fieldsBytesOf(sourceId, originId) ?? null;
    if (fields === null || highlighter === null || highlighter.isExceeded) return fields;
    return new Suspended(highlighter.highlighted(fields));
  });
  return chain(all, (made) => (highlighter?.isExceeded ? encodeRefusal(pageTooLarge) : encodeTexts(made)));
}

function counted({ query, facets }: Question<'counts'>, shard: Shard | null): Resumable<MessageBody> {
  const counts = mapInTurn(facets, ({ facetIndex, values }) =>
    shard === null ? { groups: [] } : shard.counts(query, facetIndex, values),
  );
  return chain(counts, (groups) => {
    current.enter('page');
    return encodeCounts(groups);
  });
}

function analyzersIn(shard: Shard | null): (field: string) => Analyzer {
  return (field) => shard?.analyzerOf(field) ?? plainAnalyzer;
}
