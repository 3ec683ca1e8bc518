/** Turns checked queries into whole answers: asks the workers, and merges the answers of several workers. */
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import { RefusedQueryError } from '../protocol/refusal.ts';
import type { ShardQuery } from '../protocol/shard-request.ts';
import { decodeWholeAnswer } from '../protocol/whole-answer.ts';
import type { GatheredReply } from './attempt.ts';
import { decideDistinct } from './decide-distinct.ts';
import { type MergedRows, mergedRows, type WorkerAnswer } from './merged-rows.ts';
import type { Scatter } from './scatter.ts';

export interface AnswerableQuery {
  readonly index: ScopedIndex;
  readonly query: CheckedQuery;
  /** Nothing is added to the rows, so a worker that has all of them may write the result. */
  readonly isText: boolean;
}

export type QueryAnswer =
  /** Rows of several workers in order, or of one worker that was not asked for a text. */
  | (MergedRows & { readonly kind: 'rows'; readonly configuration: string | null })
  /** The result as its worker wrote it. */
  | { readonly kind: 'text'; readonly text: Buffer; readonly configuration: string | null }
  /** The answer would be too large, or would take too long. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Answers in the order of the queries.
 * @param deadlineMs on the clock of `performance.now()`
 * @throws UnavailableError
 */
export async function answersTo(
  scatter: Scatter,
  queries: readonly AnswerableQuery[],
  deadlineMs: number,
): Promise<QueryAnswer[]> {
  const asked = queries.map(({ index, query, isText }): ShardQuery => {
    return { ...index, question: { kind: 'answer', query, isText } };
  });
  const replies = await scatter.gather(asked, deadlineMs);
  return Promise.all(queries.map((one, at) => answerTo(scatter, one, repliesTo(replies, at), deadlineMs)));
}

/** The replies as if the query at that place were the only one of the request. */
function repliesTo(replies: readonly GatheredReply[], at: number): GatheredReply[] {
  return replies.map((reply) => ({ ...reply, answers: reply.answers.slice(at, at + 1) }));
}

/** @throws UnavailableError */
async function answerTo(
  scatter: Scatter,
  one: AnswerableQuery,
  replies: readonly GatheredReply[],
  deadlineMs: number,
): Promise<QueryAnswer> {
  try {
    const { query, replies: decided } = await decideDistinct(scatter, one, replies, deadlineMs);
    const answer = await mergedAnswer(scatter, { ...one, query }, decided, deadlineMs);
    if (answer !== null) return answer;
  } catch (error) {
    if (error instanceof RefusedQueryError) return { kind: 'refused', why: error.message };
    throw error;
  }
  // An item of the page went away while its text was fetched, so the page is another one now.
  const [again] = await answersTo(scatter, [one], deadlineMs);
  if (again === undefined) throw new TypeError('a query has no answer');
  return again;
}

/** @returns null when a row of the page went away before its text was fetched. @throws RefusedQueryError, UnavailableError */
async function mergedAnswer(
  scatter: Scatter,
  one: AnswerableQuery,
  replies: readonly GatheredReply[],
  deadlineMs: number,
): Promise<QueryAnswer | null> {
  const answers = replies.map(({ answers: [body = null], configuration }) => ({ body, configuration }));
  const configuration = commonConfiguration(answers);
  const [only] = answers;
  const text = answers.length === 1 && only !== undefined ? decodeWholeAnswer(only.body) : null;
  if (text !== null) return { kind: 'text', text, configuration };
  const merged = await mergedRows(scatter, one, answers, deadlineMs);
  return merged && { kind: 'rows', ...merged, configuration };
}

function commonConfiguration([first, ...others]: readonly WorkerAnswer[]): string | null {
  const configuration = first?.configuration ?? null;
  return others.every((other) => other.configuration === configuration) ? configuration : null;
}
