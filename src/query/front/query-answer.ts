/** Builds the answer to a query from the replies of the workers. If several have items, further rounds may be necessary. */

import type { CheckedQuery } from '../../search/checked-query.ts';
import { scoredAnswers } from '../../search/merge-answers.ts';
import { sumOfStats } from '../../search/search-stats.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import { decodeWholeAnswer } from '../protocol/row-answer.ts';
import { RefusedQueryError } from '../protocol/shard-reply.ts';
import { decodeStats, searchWithoutStats } from '../protocol/stats-answer.ts';
import { type AskWorkers, type GatheredReply, onlyAnswer } from './attempt.ts';
import { type DecidedQuery, decideDistinct } from './decide-distinct.ts';
import { decodedAnswers, type FoundAnswer, type MergedRows, mergedRows } from './merged-rows.ts';
import type { Scatter } from './scatter.ts';

/** A valid query. */
export interface GoodQuery {
  readonly index: ScopedIndex;
  readonly query: CheckedQuery;
  /** True if nothing is added to the rows, so that a worker that has all of them may write the result. */
  readonly isText: boolean;
  /** See `ShardQuery`; 0 for none. */
  readonly decisions: number;
  /** Full schemas whose views are requested; null for none. */
  readonly aliases: readonly string[] | null;
  /** See `GoodOutcome`. */
  readonly subject: string;
}

export type QueryAnswer =
  /** Ordered rows of several workers, or of one worker that does not return text. */
  | (MergedRows & { readonly kind: 'rows'; readonly configuration: string | null })
  /** The JSON result that a worker wrote. */
  | { readonly kind: 'text'; readonly text: Buffer; readonly configuration: string | null }
  /** The answer would be too large, or would take too long. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * The JSON result of a worker that has the whole index; null if there is none, or if it refused.
 * @param at index of the query in its request
 */
export function wholeAnswer([only, ...others]: readonly GatheredReply[], at: number): QueryAnswer | null {
  const text = others.length === 0 ? decodeWholeAnswer(only?.answers[at] ?? null) : null;
  return text === null ? null : { kind: 'text', text, configuration: only?.configuration ?? null };
}

/**
 * @param replies to a request with this query only
 * @param deadlineMs on the clock of `performance.now()`
 * @returns null if an item of the page was changed or removed before its text was fetched
 * @throws UnavailableError
 */
export async function mergedAnswer(
  scatter: Scatter,
  one: GoodQuery,
  replies: readonly GatheredReply[],
  deadlineMs: number,
): Promise<QueryAnswer | null> {
  const ask: AskWorkers = (question) => scatter.gather([{ ...one.index, question }], deadlineMs);
  try {
    const { query, replies: last, answers } = await answersOf(ask, one.query, replies);
    const merged = await mergedRows(ask, { index: one.index.index, query }, answers, deadlineMs);
    return merged && { kind: 'rows', ...merged, configuration: commonConfiguration(last) };
  } catch (error) {
    if (error instanceof RefusedQueryError) return { kind: 'refused', why: error.message };
    throw error;
  }
}

function commonConfiguration([first, ...others]: readonly GatheredReply[]): string | null {
  const configuration = first?.configuration ?? null;
  return others.every((other) => other.configuration === configuration) ? configuration : null;
}

/** A query with the answers in the replies to it. */
interface AnsweredQuery extends DecidedQuery {
  readonly answers: readonly FoundAnswer[];
}

/**
 * Runs further rounds until the replies can be merged.
 * @param first replies to the query
 * @throws RefusedQueryError, UnavailableError
 */
async function answersOf(
  ask: AskWorkers,
  query: CheckedQuery,
  first: readonly GatheredReply[],
): Promise<AnsweredQuery> {
  const search = searchWithoutStats(query);
  if (search === null || first.length === 1) return await decidedAnswers(ask, query, first);
  const unscored = first.map((reply) => decodeStats(onlyAnswer(reply)));
  // The sum of the workers' statistics is that of the whole index, so scores are the same as with a single worker.
  const stats = sumOfStats(unscored.map((answer) => answer.stats));
  const scored = { ...query, search: { ...search, stats } };
  const answers = scoredAnswers(scored, unscored)?.map((answer) => ({ ...answer, stats: null }));
  if (answers !== undefined) return { query: scored, replies: first, answers };
  return await decidedAnswers(ask, scored, await ask({ kind: 'answer', query: scored, isText: false }));
}

async function decidedAnswers(
  ask: AskWorkers,
  query: CheckedQuery,
  first: readonly GatheredReply[],
): Promise<AnsweredQuery> {
  const decided = await decideDistinct(ask, query, first);
  return { ...decided, answers: await decodedAnswers(decided.replies.map(onlyAnswer)) };
}
