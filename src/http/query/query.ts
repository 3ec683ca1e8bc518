/**
 * Queries over HTTP (docs/reference/http.md "Queries"): parses the body, finds a cached answer or computes one with the
 * `QueryService`. For requests with one query; `multi-query.ts` handles several.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { jsonDepthMax, smallBodyBytesMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { quoteInexact } from '../../lib/exact-number.ts';
import type {
  BadOutcome,
  GoodOutcome,
  QueryOutcome,
  QueryRequest,
  QueryTarget,
} from '../../query/query-service.ts';
import { subjectKey } from '../../store/derived/subjects.ts';
import type { Version } from '../../store/visibility/version.ts';
import { type Answer, jsonType, notStored } from '../answer.ts';
import type { AnswerKey, ComputedAnswer } from '../cache/answer-cache.ts';
import { FinishedAnswer } from '../cache/finished-answer.ts';
import type { Call, Handler } from '../call.ts';
import { notJsonText, parseJson, unstorable, textOf as utf8Text } from '../json-body.ts';
import { requestedVersion } from '../request-parameters.ts';
import type { Services } from '../services.ts';
import { headLines, headOf } from '../uws/reply.ts';
import { percentDecoded } from '../uws/request-headers.ts';
import { type TextWithViews, textWithViews } from './rows-with-views.ts';

/** A query with a longer body is unlikely to be repeated. */
const keptBodyBytesMax = 4096;

export interface SentQuery {
  readonly call: Call;
  readonly body: Json;
  readonly minVersion: Version | null;
}

export interface QueryEndpoint {
  readonly name: string;
  /** @throws ProblemError 400, 403, 404; UnavailableError */
  compute(services: Services, sent: SentQuery): Promise<ComputedAnswer>;
}

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
      assert(outcome !== undefined, 'each query has an outcome');
      if (!outcome.ok) throw refusal(outcome);
      return computed(services, [outcome], await textOf(services, sent, outcome));
    },
  };
}

/** @throws ProblemError 400 if the body is not a query object */
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

export async function answered(services: Services, call: Call, endpoint: QueryEndpoint): Promise<Answer> {
  const bytes = await call.body.bytes(smallBodyBytesMax, problems.bodyTooLarge);
  const minVersion = requestedVersion(call, 400);
  const compute = async () => endpoint.compute(services, { call, body: queryBody(bytes), minVersion });
  // A cached answer may be older than the requested version.
  const isKept = minVersion === null && bytes.length <= keptBodyBytesMax;
  if (!isKept) return okAnswer((await compute()).answer);
  const text = `${endpoint.name}/${call.parameters.join('/')}\n${bytes.toString('latin1')}`;
  const key: AnswerKey = { kind: 'query', principal: call.client, text };
  return okAnswer(services.cache.find(key) ?? (await services.cache.answerTo(key, compute)));
}

/**
 * The JSON of a query's body. A number beyond 2^53 that a double cannot hold is the string of its digits, which a condition
 * compares exactly.
 * @throws ProblemError 400 if it is invalid or has a value that cannot be stored
 */
export function queryBody(bytes: Buffer): Json {
  const body = parseJson(bytes);
  if (body === undefined) throw new ProblemError(problems.queryInvalid([notJsonText(bytes)]));
  let hasLarge = false;
  const error = unstorable(body, 'The query', jsonDepthMax, () => {
    hasLarge = true;
  });
  if (error !== null) throw new ProblemError(problems.queryInvalid([error]));
  const exact = hasLarge ? quoteInexact(utf8Text(bytes), '') : null;
  return exact === null ? body : (JSON.parse(exact) as Json);
}

const head = headOf(200, headLines([notStored, ['Content-Type', jsonType]]));

function okAnswer({ body }: FinishedAnswer): Answer {
  return { status: 200, body, contentType: jsonType, head };
}

export function run(
  { query }: Services,
  { call, minVersion }: SentQuery,
  requests: readonly QueryRequest[],
): Promise<QueryOutcome[]> {
  return query.run(call.client, requests, { minVersion });
}

/** JSON text of the result, with the views of its rows. @throws ProblemError 400 if these are too large */
export function textOf(
  services: Services,
  { call, minVersion }: SentQuery,
  { result }: GoodOutcome,
): TextWithViews | Promise<TextWithViews> {
  if (result.kind === 'text') return { text: result.text, subjects: [] };
  // A cached view may be older than the requested version.
  return textWithViews(services, call.client, result, minVersion !== null);
}

export function computed(
  { configuration }: Services,
  outcomes: readonly QueryOutcome[],
  { text, subjects }: { readonly text: Buffer; readonly subjects: readonly string[] | null },
): ComputedAnswer {
  return {
    answer: new FinishedAnswer(text),
    reads: () => readsOf(outcomes, subjects, configuration.current.digest),
  };
}

/**
 * The subjects of the queried indexes and of the shown views; null for an answer that must not be cached. An error may
 * disappear when an index gets new fields. And a worker that has not applied a new configuration yet will do so without a
 * change of any item.
 */
function readsOf(
  outcomes: readonly QueryOutcome[],
  viewSubjects: readonly string[] | null,
  digest: string,
): readonly string[] | null {
  if (viewSubjects === null) return null;
  const subjects = new Set(viewSubjects);
  for (const outcome of outcomes) {
    if (!outcome.ok || outcome.dependsOnTime || outcome.configuration !== digest) return null;
    subjects.add(subjectKey(outcome.subject));
  }
  return [...subjects];
}
