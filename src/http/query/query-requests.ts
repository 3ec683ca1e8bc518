/** Queries that name their targets in the body (docs/reference/indexes-and-queries.md "The query object"). */
import { ProblemError, problems } from '../../contract/errors.ts';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { queriesPerRequestMax } from '../../contract/limits.ts';
import { labelMemberNames, queryBodyShape } from '../../contract/shapes-query.ts';
import type { QueryRequest, QueryTarget } from '../../query/query-service.ts';
import { misspelledMembers } from '../../search/check/members.ts';

/** The members of a query besides its target and name: the query itself is checked later. */
const queryMembers = [...labelMemberNames, ...Object.keys(queryBodyShape.properties)];

/**
 * The query of a body that names its target by `index`, or else by `sourceGroupAlias` and `sourceEntityType`.
 * @throws ProblemError 400 if the body is not an object, or names no target
 */
export function targetedRequest(body: Json): QueryRequest {
  if (!isJsonObject(body)) throw new ProblemError(problems.queryInvalid(['The body must be an object']));
  if (Object.hasOwn(body, 'index')) return namedQuery(body, indexTargets).request;
  if (sourceGroupTargets.names.some((name) => Object.hasOwn(body, name))) {
    return namedQuery(body, sourceGroupTargets).request;
  }
  const error = 'Missing target: send index, or sourceGroupAlias and sourceEntityType';
  throw new ProblemError(problems.queryInvalid([error]));
}

/** One of several queries of a request. */
export interface NamedQuery {
  readonly request: QueryRequest;
  /** The members that the response echoes, in order; null for values that are not strings. */
  readonly labels: Readonly<Record<string, string | null>>;
}

/** The members that name the target of a query. */
export interface TargetMembers {
  readonly names: readonly string[];
  /** @param texts the members as strings, '' for other types */
  targetOf(texts: readonly string[]): QueryTarget;
}

export const indexTargets: TargetMembers = {
  names: ['index'],
  targetOf: ([alias = '']) => ({ kind: 'index', alias }),
};

export const sourceGroupTargets: TargetMembers = {
  names: ['sourceGroupAlias', 'sourceEntityType'],
  targetOf: ([sourceGroup = '', type = '']) => ({ kind: 'auto', sourceGroup, type }),
};

/**
 * The queries of a body that is a list of queries, each with its target.
 * @throws ProblemError 400 if the body is not such a list
 */
export function namedQueries(body: Json, members: TargetMembers): NamedQuery[] {
  if (Array.isArray(body) && body.length <= queriesPerRequestMax) {
    return body.map((query) => namedQuery(query, members));
  }
  throw new ProblemError(
    problems.queryInvalid([`The body must be an array of at most ${queriesPerRequestMax} queries`]),
  );
}

function namedQuery(body: Json, { names, targetOf }: TargetMembers): NamedQuery {
  const query = isJsonObject(body) ? body : {};
  const errors: string[] = query === body ? [] : ['The query must be an object'];
  const text = (member: string): string | null => {
    const value = getOwn(query, member) ?? null;
    if (typeof value === 'string') return value;
    if (query === body && (member !== 'name' || value !== null)) errors.push(`${member} must be a string`);
    return null;
  };
  const own = [...names, 'name'];
  const labels = Object.fromEntries(own.map((member) => [member, text(member)]));
  for (const [member, error] of misspelledMembers(query, own, queryMembers))
    errors.push(`${member}: ${error}`);
  const target = targetOf(names.map((member) => labels[member] ?? ''));
  return { request: { target, body, errors }, labels };
}
