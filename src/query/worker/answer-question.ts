/** A shard's answer to one question, encoded for its way to the front. */
import { facetGroupsPerShardMax } from '../../search/facets/facet.ts';
import { chain, type Maybe, mapInTurn, pace } from '../../search/pace.ts';
import type { Shard } from '../../search/shard/shard.ts';
import type { ShardAnswer } from '../../search/shard-answer.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import { sealToken, tokenUse } from '../next-page-token.ts';
import { encodeCounts, encodeTexts } from '../protocol/further-answers.ts';
import { encodeAnswer } from '../protocol/row-answer.ts';
import type { ShardQuestion } from '../protocol/shard-request.ts';
import { encodeWholeAnswer } from '../protocol/whole-answer.ts';

export interface AnswerOptions {
  /** Signs tokens. */
  readonly secret: Buffer;
  /** This worker has all partitions. */
  readonly isWhole: boolean;
}

type Question<Kind extends ShardQuestion['kind']> = Extract<ShardQuestion, { readonly kind: Kind }>;

const nothingFound: ShardAnswer = { total: 0, rows: [], facets: [] };

/** Answers a question, in steps. @param shard null: no item of the index is here */
export function answerQuestion(
  question: ShardQuestion,
  index: ScopedIndex,
  shard: Shard | null,
  options: AnswerOptions,
): Maybe<MessageBody> {
  switch (question.kind) {
    case 'answer':
      return answered(question, index, shard, options);
    case 'counts':
      return counted(question, shard);
    case 'texts':
      return encodeTexts(
        question.rows.map(({ sourceId, originId }) => shard?.fieldsBytesOf(sourceId, originId) ?? null),
      );
  }
}

function answered(
  { query, isText }: Question<'answer'>,
  index: ScopedIndex,
  shard: Shard | null,
  { secret, isWhole }: AnswerOptions,
): Maybe<MessageBody> {
  // The first groups of a worker that is alone are the first of all. Otherwise the merge needs more groups than are
  // asked for.
  const groupsMax = isWhole ? 0 : facetGroupsPerShardMax;
  const answer = shard === null ? nothingFound : shard.answer(query, groupsMax);
  return chain(answer, (found) => {
    pace.enter('page');
    const terms = { index: index.index, query, isWhole };
    if (!isWhole || !isText) return encodeAnswer(found, terms);
    return encodeWholeAnswer(found, terms, (last) => sealToken(secret, tokenUse(index, query), last));
  });
}

function counted({ query, facets }: Question<'counts'>, shard: Shard | null): Maybe<MessageBody> {
  const counts = mapInTurn(facets, ({ facetIndex, values }) =>
    shard === null ? { groups: [] } : shard.counts(query, facetIndex, values),
  );
  return chain(counts, (groups) => {
    pace.enter('page');
    return encodeCounts(groups);
  });
}
