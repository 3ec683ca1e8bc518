/** Several queries in one request (docs/reference/indexes-and-queries.md "Several queries at once"). */
import { ProblemError, problems, type QueryProblem } from '../../contract/errors.ts';
import { assert } from '../../lib/assert.ts';
import type { QueryOutcome } from '../../query/query-service.ts';
import { labelledResult, listText } from '../../query/result/result-text.ts';
import type { ComputedAnswer } from '../cache/answer-cache.ts';
import type { Handler } from '../call.ts';
import { queryProblemBody } from '../routing/problem-answer.ts';
import type { Services } from '../services.ts';
import { answered, computed, run, type SentQuery, textOf } from './query.ts';
import {
  indexTargets,
  type NamedQuery,
  namedQueries,
  sourceGroupTargets,
  type TargetMembers,
} from './query-requests.ts';

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
