/** Turns checked queries into whole answers: asks the workers, and merges the answers of several workers. */
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import { RefusedQueryError } from '../protocol/refusal.ts';
import type { ShardQuery } from '../protocol/shard-request.ts';
import { decodeWholeAnswer } from '../protocol/whole-answer.ts';
import type { GatheredReply } from './attempt.ts';
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
  return Promise.all(queries.map((one, at) => answerTo(scatter, one, answersAt(replies, at), deadlineMs)));
}

function answersAt(replies: readonly GatheredReply[], at: number): WorkerAnswer[] {
  return replies.map(({ answers, configuration }) => ({ body: answers[at] ?? null, configuration }));
}

/** @throws UnavailableError */
async function answerTo(
  scatter: Scatter,
  one: AnswerableQuery,
  answers: readonly WorkerAnswer[],
  deadlineMs: number,
): Promise<QueryAnswer> {
  const configuration = commonConfiguration(answers);
  const [only] = answers;
  const text = answers.length === 1 && only !== undefined ? decodeWholeAnswer(only.body) : null;
  if (text !== null) return { kind: 'text', text, configuration };
  try {
    const merged = await mergedRows(scatter, one, answers, deadlineMs);
    if (merged !== null) return { kind: 'rows', ...merged, configuration };
  } catch (error) {
    if (error instanceof RefusedQueryError) return { kind: 'refused', why: error.message };
    throw error;
  }
  // An item of the page went away while its text was fetched, so the page is another one now.
  const [again] = await answersTo(scatter, [one], deadlineMs);
  if (again === undefined) throw new TypeError('a query has no answer');
  return again;
}

function commonConfiguration([first, ...others]: readonly WorkerAnswer[]): string | null {
  const configuration = first?.configuration ?? null;
  return others.every((other) => other.configuration === configuration) ? configuration : null;
}
