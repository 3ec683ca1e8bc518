/** A query over one index or one source group (docs/reference/http.md "Queries"): HTTP around a `QueryService`. */
import { ProblemError, problems } from '../../contract/errors.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import type { BadOutcome, QueryRequest, QueryTarget } from '../../query/query-service.ts';
import type { Call } from '../call.ts';
import type { Handler } from '../handler.ts';
import type { Services } from '../services.ts';
import { percentDecoded } from '../uws/text-decoding.ts';
import { answered, computed, type QueryEndpoint, run, textOf } from './answered.ts';

export function queryIndex(services: Services): Handler {
  const endpoint = single('index', (call) => ({ kind: 'index', alias: pathText(call, 0) }));
  return (call) => answered(services, call, endpoint);
}

export function querySourceGroup(services: Services): Handler {
  const endpoint = single('sourceGroup', (call) => {
    const [sourceGroup, type] = [pathText(call, 0), pathText(call, 1)];
    return { kind: 'auto', sourceGroup, type };
  });
  return (call) => answered(services, call, endpoint);
}

function single(name: string, targetOf: (call: Call) => QueryTarget): QueryEndpoint {
  return {
    name,
    compute: async (services, sent) => {
      const request = requestOf(sent.body, targetOf(sent.call));
      const [outcome] = await run(services, sent, [request]);
      if (outcome === undefined) throw new Error('the query service gave no outcome');
      if (!outcome.ok) throw refusal(outcome);
      return computed(services, [outcome], await textOf(services, sent.call, outcome));
    },
  };
}

/** @throws ProblemError 400 when the body is no query object */
function requestOf(body: Json, target: QueryTarget): QueryRequest {
  if (isJsonObject(body)) return { target, body };
  throw new ProblemError(problems.queryInvalid(['The body must be an object']));
}

function refusal({ status, errors }: BadOutcome): ProblemError {
  return new ProblemError(status === 403 ? problems.indexForbidden : problems.queryInvalid(errors, status));
}

function pathText(call: Call, at: number): string {
  const text = percentDecoded(call.parameters[at] ?? '');
  if (text !== null) return text;
  throw new ProblemError(problems.queryInvalid(['The path must be percent-encoded UTF-8']));
}
