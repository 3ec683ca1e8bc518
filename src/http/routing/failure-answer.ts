/** Turns an error that ends a request into an answer. */
import { type Problem, ProblemError, problems } from '../../contract/errors.ts';
import { UnavailableError } from '../../query/query-service.ts';
import { StoreFullError, StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import type { Answer } from '../answer.ts';
import type { Log } from '../operations/log.ts';
import { AbortedError } from '../uws/body.ts';
import { problemAnswer } from './problem-answer.ts';
import type { RouteDefinition } from './route-definition.ts';

/** The answer that tells of an error. An error that is a bug of ours is logged. */
export function failureAnswer(
  { name, problems: style }: Pick<RouteDefinition, 'name' | 'problems'>,
  error: unknown,
  log: Log,
  requestId: string,
): Answer {
  // Nobody is there to read this answer.
  if (error instanceof AbortedError) return problemAnswer('plain', problems.internal);
  const problem = problemOf(error);
  if (problem.status === 500)
    log.error({ endpoint: name, problem: problem.name, requestId, err: error }, 'request failed');
  const answer = problemAnswer(style, problem);
  return problem.status === 408 ? { ...answer, close: true } : answer;
}

/** What a client receives for an error. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof StoreFullError) return problems.storeFull;
  if (error instanceof StoreUnavailableError || error instanceof UnavailableError)
    return problems.unavailable;
  return problems.internal;
}
