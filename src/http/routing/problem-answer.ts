/** Writes errors as each interface does (docs/reference/http.md "Error bodies"). */
import type { Problem } from '../../contract/errors.ts';
import { type Answer, type HeaderField, jsonAnswer } from '../answer.ts';

/** `plain` is for errors of no interface: unknown paths, wrong methods, missing lengths. */
export type ProblemStyle = 'plain' | 'ingest' | 'delivery' | 'query' | 'multiQuery';

/** The answer that tells of a problem: JSON, but for internal errors of ingest, which are plain text. */
export function problemAnswer(style: ProblemStyle, problem: Problem): Answer {
  const headers = headersOf(problem);
  if (style === 'ingest' && problem.status === 500) {
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
      return { status, message };
    case 'ingest':
      return {
        status,
        message,
        ...(errorCode === undefined ? {} : { errorCode }),
        ...(errors === undefined ? {} : { errors }),
      };
    case 'delivery':
      return { meta: { status }, message };
    case 'query':
      return errors === undefined ? { error: message } : { message, errors, status };
    case 'multiQuery':
      if (queries !== undefined) {
        return queries.map((query) => ({
          name: query.name,
          message,
          errors: query.errors,
          status: query.status,
        }));
      }
      return errors === undefined ? { error: message } : [{ name: null, message, errors, status }];
  }
}

function headersOf({ retryAfter, allow }: Problem): HeaderField[] {
  const headers: HeaderField[] = [];
  if (retryAfter !== undefined) headers.push(['Retry-After', String(retryAfter)]);
  if (allow !== undefined) headers.push(['Allow', allow]);
  return headers;
}
