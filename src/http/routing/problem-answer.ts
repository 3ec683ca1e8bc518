/** Writes errors as each interface does (docs/reference/http.md "Error bodies"). */
import { type Problem, problems, type QueryProblem } from '../../contract/errors.ts';
import { type Answer, type HeaderField, jsonAnswer } from '../answer.ts';
import { notStored } from '../delivery/caching-headers.ts';

/** `plain` is for errors of no interface: unknown paths, wrong methods, missing lengths; `plainNotStored` at paths of delivery. */
export type ProblemStyle =
  | 'plain'
  | 'plainNotStored'
  | 'ingest'
  | 'bulkIngest'
  | 'delivery'
  | 'query'
  | 'multiQuery'
  | 'management';

/**
 * The style of an error that is told before a request reaches its endpoint (405, 411): `errors` is in every error of
 * ingest, no cache keeps an error of delivery, and the other interfaces have no style of their own there.
 */
export function styleBefore(style: ProblemStyle): ProblemStyle {
  if (isIngest(style)) return style;
  return style === 'delivery' ? 'plainNotStored' : 'plain';
}

function isIngest(style: ProblemStyle): boolean {
  return style === 'ingest' || style === 'bulkIngest';
}

/** The answer that tells of a problem: JSON, but for internal errors of ingest, which are plain text. */
export function problemAnswer(style: ProblemStyle, problem: Problem): Answer {
  const headers = headersOf(style, problem);
  if (isIngest(style) && problem.status === 500) {
    return {
      status: 500,
      body: problem.message,
      contentType: 'text/plain; charset=utf-8',
      headers,
      problem: problem.name,
    };
  }
  return { ...jsonAnswer(problem.status, problemBody(style, problem), headers), problem: problem.name };
}

function problemBody(style: ProblemStyle, { status, message, errorCode, errors, queries }: Problem): unknown {
  switch (style) {
    case 'plain':
    case 'plainNotStored':
      return { status, message };
    case 'ingest':
    case 'bulkIngest':
      return {
        status,
        message,
        ...(errorCode === undefined ? {} : { errorCode }),
        errors: style === 'ingest' ? (errors ?? {}) : inLists(errors ?? {}),
      };
    case 'management':
      return errors === undefined ? { status, message } : { status, message, errors };
    case 'delivery':
      return { meta: { status }, message };
    case 'query':
      return errors === undefined ? { error: message } : { message, errors, status };
    case 'multiQuery':
      if (queries !== undefined) return queries.map(queryProblemBody);
      return errors === undefined ? { error: message } : [{ name: null, message, errors, status }];
  }
}

/** What stands in the place of a bad query of several. */
export function queryProblemBody({ labels, status, errors }: QueryProblem): object {
  const { name = null, ...others } = labels;
  const { message } = status === 403 ? problems.indexForbidden : problems.queryInvalid(errors);
  return { name, ...others, message, errors, status };
}

/** `errors` as answers to many entities have it: a list of texts for each name. */
function inLists(errors: NonNullable<Problem['errors']>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(errors).map(([name, text]) => [name, [text]]));
}

function headersOf(style: ProblemStyle, { retryAfter, allow, acceptEncoding }: Problem): HeaderField[] {
  const isStored = style !== 'delivery' && style !== 'plainNotStored';
  const headers: HeaderField[] = isStored ? [] : [notStored];
  if (retryAfter !== undefined) headers.push(['Retry-After', String(retryAfter)]);
  if (allow !== undefined) headers.push(['Allow', allow]);
  if (acceptEncoding !== undefined) headers.push(['Accept-Encoding', acceptEncoding]);
  return headers;
}
