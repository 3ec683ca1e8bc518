/** The query interface (specification endpoints 8 to 10, contract section 7): HTTP around a `QueryService`. */
import { ProblemError, problems } from '../../contract/errors.ts';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { jsonDepthMax, queriesPerRequestMax, smallBodyBytesMax } from '../../contract/limits.ts';
import {
  type GoodOutcome,
  type QueryOutcome,
  type QueryRequest,
  type QueryTarget,
  UnavailableError,
} from '../../query/query-service.ts';
import { resultsText } from '../../query/worker/result-text.ts';
import type { VersionVector } from '../../store/visibility/version.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import { answerOf, keptOrMade, keyOfQuery, type MadeAnswer } from '../cache/query-cache.ts';
import type { Call } from '../call.ts';
import { askedVersion } from '../delivery/min-version.ts';
import { AnswerToBody, type Handler } from '../handler.ts';
import { parseJson } from '../ingest/entity-reading.ts';
import { unstorable } from '../ingest/inspect-json.ts';
import type { Services } from '../services.ts';
import { percentDecoded } from '../uws/text-decoding.ts';
import { textWithViews } from './result.ts';

const tooLarge = new ProblemError(
  problems.queryInvalid([`The body may have at most ${smallBodyBytesMax} bytes`]),
);

export function queryIndex(services: Services): Handler {
  return (call) =>
    answered(services, call, (sent) =>
      single(services, call, sent, { kind: 'index', alias: pathText(call, 0) }),
    );
}

export function querySourceGroup(services: Services): Handler {
  return (call) =>
    answered(services, call, (sent) => {
      const [sourceGroup, type] = [pathText(call, 0), pathText(call, 1)];
      return single(services, call, sent, { kind: 'auto', sourceGroup, type });
    });
}

export function querySources(services: Services): Handler {
  return (call) => answered(services, call, (sent) => multi(services, call, sent));
}

interface SentQuery {
  readonly minVersion: VersionVector | null;
  /** The body, a character a byte: the bytes that came are only valid for a moment. */
  readonly body: string;
}

/** @param answer for a body that no kept answer stands for */
function answered(
  services: Services,
  call: Call,
  answer: (sent: SentQuery) => Promise<MadeAnswer>,
): AnswerToBody {
  return new AnswerToBody(smallBodyBytesMax, tooLarge, (bytes) => {
    const minVersion = askedVersion(call, 400);
    const body = bytes.toString('latin1');
    // Who asks for a version wants more than what was true a while ago.
    const key = minVersion === null ? keyOfQuery(call, body) : null;
    return keptOrMade(services, call, key, () => answer({ minVersion, body }));
  });
}

async function single(
  services: Services,
  call: Call,
  { minVersion, body: text }: SentQuery,
  target: QueryTarget,
): Promise<MadeAnswer> {
  const body = parsedBody(text);
  if (!isJsonObject(body)) throw new ProblemError(problems.queryInvalid(['The body must be an object']));
  const [outcome] = await run(services, call, [{ target, body }], minVersion);
  if (outcome === undefined) throw new Error('the query service gave no outcome');
  if (!outcome.ok) throw new ProblemError(problems.queryInvalid(outcome.errors, outcome.status));
  return { answer: answerOf(await textOf(services, call, outcome)), outcomes: [outcome] };
}

async function multi(services: Services, call: Call, { minVersion, body }: SentQuery): Promise<MadeAnswer> {
  const requests = multiRequests(parsedBody(body));
  const outcomes = await run(services, call, requests, minVersion);
  const good = outcomes.filter((outcome) => outcome.ok);
  if (good.length < outcomes.length) {
    return { answer: multiRefusal(badQueries(requests, outcomes)), outcomes: [] };
  }
  const texts = await Promise.all(good.map((outcome) => textOf(services, call, outcome)));
  const labels = good.map((outcome) => outcome.labels);
  return { answer: answerOf(resultsText(texts, labels)), outcomes: good };
}

function textOf(services: Services, { client }: Call, { result }: GoodOutcome): Buffer | Promise<Buffer> {
  return result.kind === 'text' ? result.text : textWithViews(services, client, result);
}

interface BadQuery {
  readonly request: QueryRequest;
  readonly status: 400 | 404;
  readonly errors: readonly string[];
}

/** Those that have mistakes of their own. */
function badQueries(requests: readonly QueryRequest[], outcomes: readonly QueryOutcome[]): BadQuery[] {
  return requests.flatMap((request, index) => {
    const outcome = outcomes[index];
    return outcome === undefined || outcome.ok || outcome.errors.length === 0
      ? []
      : [{ request, ...outcome }];
  });
}

/** One bad query makes the whole answer 400 (contract section 7), whatever is wrong with it. */
function multiRefusal(bad: readonly BadQuery[]): Answer {
  const list = bad.map(({ request, status, errors }) => ({
    name: request.name ?? null,
    message: 'Query is not valid',
    errors,
    status,
  }));
  return jsonAnswer(400, list);
}

/** @param text a character a byte. @throws ProblemError 400 for what is no JSON that can be stored */
function parsedBody(text: string): Json {
  const body = parseJson(Buffer.from(text, 'latin1'));
  if (body === undefined) throw new ProblemError(problems.queryInvalid(['The body is no JSON in UTF-8']));
  const mistake = unstorable(body, 'The query', jsonDepthMax);
  if (mistake !== null) throw new ProblemError(problems.queryInvalid([mistake]));
  return body;
}

function run(
  { query }: Services,
  call: Call,
  requests: readonly QueryRequest[],
  minVersion: VersionVector | null,
): Promise<QueryOutcome[]> {
  if (query === null) throw new UnavailableError('this front has no query service');
  return query.run(call.client, requests, { minVersion });
}

function pathText(call: Call, at: number): string {
  const text = percentDecoded(call.parameters[at] ?? '');
  if (text !== null) return text;
  throw new ProblemError(problems.queryInvalid(['The path must be percent-encoded UTF-8']));
}

/** @throws ProblemError 400 when the body is no list of queries */
function multiRequests(body: Json): QueryRequest[] {
  if (Array.isArray(body) && body.length <= queriesPerRequestMax) return body.map(multiRequest);
  throw new ProblemError(
    problems.queryInvalid([`The body must be an array of at most ${queriesPerRequestMax} queries`]),
  );
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
