/**
 * Reads the queries of a request from its body (docs/reference/indexes-and-queries.md "The query object"). The body is
 * a Latin-1 text: one character for each byte.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { jsonDepthMax, queriesPerRequestMax } from '../../contract/limits.ts';
import type { QueryRequest, QueryTarget } from '../../query/query-service.ts';
import { parseJson } from '../ingest/entity-reading.ts';
import { unstorable } from '../ingest/inspect-json.ts';

/** The query of a body that is a query object. @throws ProblemError 400 when the body is none */
export function singleRequest(text: string, target: QueryTarget): QueryRequest {
  const body = parsedBody(text);
  if (isJsonObject(body)) return { target, body };
  throw new ProblemError(problems.queryInvalid(['The body must be an object']));
}

/**
 * The queries of a body that is a list of queries, each with its target.
 * @throws ProblemError 400 when the body is no such list
 */
export function multiRequests(text: string): QueryRequest[] {
  const body = parsedBody(text);
  if (Array.isArray(body) && body.length <= queriesPerRequestMax) return body.map(multiRequest);
  throw new ProblemError(
    problems.queryInvalid([`The body must be an array of at most ${queriesPerRequestMax} queries`]),
  );
}

/** @throws ProblemError 400 when the text is not JSON, or holds a value that cannot be stored */
function parsedBody(text: string): Json {
  const body = parseJson(Buffer.from(text, 'latin1'));
  if (body === undefined) throw new ProblemError(problems.queryInvalid(['The body is no JSON in UTF-8']));
  const mistake = unstorable(body, 'The query', jsonDepthMax);
  if (mistake !== null) throw new ProblemError(problems.queryInvalid([mistake]));
  return body;
}

function multiRequest(body: Json): QueryRequest {
  const mistakes: string[] = isJsonObject(body) ? [] : ['The query must be an object'];
  const text = (name: string): string | null => {
    const value = isJsonObject(body) ? (getOwn(body, name) ?? null) : null;
    if (typeof value === 'string') return value;
    if (isJsonObject(body) && (name !== 'name' || value !== null)) mistakes.push(`${name} must be a text`);
    return null;
  };
  const sourceGroup = text('sourceGroupAlias');
  const type = text('sourceEntityType');
  const name = text('name');
  const target = { kind: 'auto', sourceGroup: sourceGroup ?? '', type: type ?? '' } as const;
  const labels = JSON.stringify({ sourceGroupAlias: sourceGroup, sourceEntityType: type, name });
  return { target, body, ...(name === null ? {} : { name }), labels, mistakes };
}
