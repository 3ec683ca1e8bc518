/**
 * Finds the statistics by which a search is scored, when several workers have items. Each has told what its own items say. Their
 * sum says it of the whole index, and with it the workers are asked again. So the scores are those of one worker with all items.
 */
import type { CheckedQuery } from '../../search/checked-query.ts';
import { sumOfStats } from '../../search/search-stats.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import { decodeStats, searchWithoutStats } from '../protocol/stats-answer.ts';
import type { GatheredReply } from './attempt.ts';
import type { Scatter } from './scatter.ts';

/** A query with the replies to it, which is the only one of its request. */
export interface AnsweredQuery {
  readonly query: CheckedQuery;
  readonly replies: readonly GatheredReply[];
}

/**
 * Gives back the replies themselves when nothing is missing: without a search, when one worker has everything, and for a page whose
 * token has the statistics.
 * @param first replies to the query
 * @param deadlineMs on the clock of `performance.now()`
 * @throws RefusedQueryError, UnavailableError
 */
export async function withStats(
  scatter: Pick<Scatter, 'gather'>,
  { index, query }: { readonly index: ScopedIndex; readonly query: CheckedQuery },
  first: readonly GatheredReply[],
  deadlineMs: number,
): Promise<AnsweredQuery> {
  const search = searchWithoutStats(query);
  if (search === null || first.length === 1) return { query, replies: first };
  const stats = sumOfStats(first.map(({ answers: [body = null] }) => decodeStats(body)));
  const scored = { ...query, search: { ...search, stats } };
  const question = { kind: 'answer', query: scored, isText: false } as const;
  return { query: scored, replies: await scatter.gather([{ ...index, question }], deadlineMs) };
}
