/** Several queries in one request (docs/reference/indexes-and-queries.md "Several queries at once"). */
import { ProblemError, problems, type QueryProblem } from '../../contract/errors.ts';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { queriesPerRequestMax } from '../../contract/limits.ts';
import { labelMemberNames, queryBodyShape } from '../../contract/shapes-query.ts';
import { assert } from '../../lib/assert.ts';
import type { QueryOutcome, QueryRequest, QueryTarget } from '../../query/query-service.ts';
import { labelledResult, listText } from '../../query/result/result-text.ts';
import { misspelledMembers } from '../../search/check/members.ts';
import type { ComputedAnswer } from '../cache/answer-cache.ts';
import type { Handler } from '../call.ts';
import { queryProblemBody } from '../routing/problem-answer.ts';
import type { Services } from '../services.ts';
import { answered, computed, run, type SentQuery, textOf } from './query.ts';

export function queryIndexes(services: Services): Handler {
  return multi(services, 'indexes', indexTargets);
}

export function querySources(services: Services): Handler {
  return multi(services, 'sources', sourceGroupTargets);
}

function multi(services: Services, name: string, members: TargetMembers): Handler {
  const endpoint = {
    name,
    compute: (_: Services, sent: SentQuery) => computeAll(services, sent, members),
  };
  return (call) => answered(services, call, endpoint);
}

/** @throws ProblemError 400 if all queries are invalid; UnavailableError */
async function computeAll(
  services: Services,
  sent: SentQuery,
  members: TargetMembers,
): Promise<ComputedAnswer> {
  const queries = namedQueries(sent.body, members);
  const outcomes = await run(
    services,
    sent,
    queries.map(({ request }) => request),
  );
  const parts = await Promise.all(queries.map((query, at) => partOf(services, sent, query, outcomes[at])));
  const bad = parts.flatMap(({ problem }) => problem ?? []);
  if (bad.length > 0 && bad.length === parts.length) throw new ProblemError(problems.queriesInvalid(bad));
  return computed(services, outcomes, {
    text: listText(parts.map(({ text }) => text)),
    // The subjects of a failed query are unknown, so the answer could not be invalidated when they change.
    subjects: bad.length > 0 ? null : parts.flatMap(({ subjects }) => subjects),
  });
}

/** The answer to one of the queries: its result, or its errors. */
interface Part {
  readonly text: Uint8Array;
  /** Subject keys of the views that it shows. */
  readonly subjects: readonly string[];
  readonly problem: QueryProblem | null;
}

async function partOf(
  services: Services,
  sent: SentQuery,
  { labels }: NamedQuery,
  outcome: QueryOutcome | undefined,
): Promise<Part> {
  assert(outcome !== undefined, 'each query has an outcome');
  if (!outcome.ok) return badPart({ labels, status: outcome.status, errors: outcome.errors });
  try {
    const { text, subjects } = await textOf(services, sent, outcome);
    return { text: labelledResult(text, labels), subjects, problem: null };
  } catch (error) {
    const errors = error instanceof ProblemError ? error.problem.errors : undefined;
    if (!Array.isArray(errors)) throw error;
    return badPart({ labels, status: 400, errors });
  }
}

function badPart(problem: QueryProblem): Part {
  return { text: Buffer.from(JSON.stringify(queryProblemBody(problem))), subjects: [], problem };
}

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
interface NamedQuery {
  readonly request: QueryRequest;
  /** The members that the response echoes, in order; null for values that are not strings. */
  readonly labels: Readonly<Record<string, string | null>>;
}

/** The members that name the target of a query. */
interface TargetMembers {
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
