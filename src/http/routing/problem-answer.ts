/** Error responses in the style of each interface (docs/reference/http.md "Error bodies"). */
import { type Problem, ProblemError, problems, type QueryProblem } from '../../contract/errors.ts';
import { UnavailableError } from '../../query/query-service.ts';
import { StoreFullError, StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import { type Answer, type HeaderField, jsonAnswer } from '../answer.ts';
import type { Log } from '../log.ts';
import { AbortedError } from '../uws/body.ts';

/** `plain` is for errors outside any interface: unknown paths, wrong methods, missing lengths. */
export type ProblemStyle =
  | 'plain'
  | 'ingest'
  | 'bulkIngest'
  | 'delivery'
  | 'query'
  | 'multiQuery'
  | 'management';

/**
 * The style of an error that occurs before a request reaches its endpoint (405, 411). Every error of ingest has `errors`; the
 * other interfaces have no style of their own here.
 */
export function styleBefore(style: ProblemStyle): ProblemStyle {
  return isIngest(style) ? style : 'plain';
}

function isIngest(style: ProblemStyle): boolean {
  return style === 'ingest' || style === 'bulkIngest';
}

/** The response that reports a problem: JSON, except internal errors of ingest, which are plain text. */
export function problemAnswer(style: ProblemStyle, problem: Problem): Answer {
  const { name, status, message } = problem;
  const headers = headersOf(problem);
  if (isIngest(style) && status === 500) {
    return { status, body: message, contentType: 'text/plain; charset=utf-8', headers, problem: name };
  }
  const body = problemBody(style, problem);
  const answer = { ...jsonAnswer(status, body, headers), problem: name };
  return status >= 500 && !Array.isArray(body) ? { ...answer, problemBody: body } : answer;
}

/** Adds the request id to the body of an internal error, so that it can be found in the log. */
export function withRequestId(answer: Answer, requestId: string): Answer {
  if (answer.problemBody === undefined) return answer;
  const { problemBody, ...rest } = answer;
  return { ...rest, body: JSON.stringify({ ...problemBody, requestId }) };
}

function problemBody(style: ProblemStyle, problem: Problem): object {
  const { name: code, status, message, errorCode, errors, queries } = problem;
  switch (style) {
    case 'plain':
      return { status, message, code };
    case 'ingest':
    case 'bulkIngest':
      return {
        status,
        message,
        ...(errorCode === undefined ? {} : { errorCode }),
        errors: style === 'ingest' ? (errors ?? {}) : inLists(errors ?? {}),
        code,
      };
    case 'management':
      return errors === undefined ? { status, message, code } : { status, message, errors, code };
    case 'delivery':
      return { meta: { status }, message, code };
    case 'query':
      return errors === undefined ? { error: message, code } : { message, errors, status, code };
    case 'multiQuery':
      if (queries !== undefined) return queries.map(queryProblemBody);
      return errors === undefined ? { error: message, code } : [{ name: null, message, errors, status }];
  }
}

/** The entry of an invalid query among several, in the format of the hosted service, without a code. */
export function queryProblemBody({ labels, status, errors }: QueryProblem): object {
  const { name = null, ...others } = labels;
  const { message } = status === 403 ? problems.indexForbidden : problems.queryInvalid(errors);
  return { name, ...others, message, errors, status };
}

/** Converts `errors` to the format of bulk responses: a list of strings for each name. */
function inLists(errors: NonNullable<Problem['errors']>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(errors).map(([name, text]) => [name, [text]]));
}

function headersOf({ retryAfter, allow, acceptEncoding }: Problem): HeaderField[] {
  const headers: HeaderField[] = [];
  if (retryAfter !== undefined) headers.push(['Retry-After', String(retryAfter)]);
  if (allow !== undefined) headers.push(['Allow', allow]);
  if (acceptEncoding !== undefined) headers.push(['Accept-Encoding', acceptEncoding]);
  return headers;
}

/** The response for an error. Internal errors are logged. */
export function failureAnswer(
  { name, problems: style }: { readonly name: string; readonly problems: ProblemStyle },
  error: unknown,
  log: Log,
  requestId: string,
): Answer {
  // The client has disconnected, so this response is not sent.
  if (error instanceof AbortedError) return problemAnswer('plain', problems.internal);
  const problem = problemOf(error);
  if (problem.status === 500)
    log.error({ endpoint: name, problem: problem.name, requestId, err: error }, 'request failed');
  const answer = problemAnswer(style, problem);
  return problem.status === 408 ? { ...answer, close: true } : answer;
}

/** The problem that reports an error. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof StoreFullError) return problems.storeFull;
  if (error instanceof StoreUnavailableError || error instanceof UnavailableError)
    return problems.unavailable;
  return problems.internal;
}
