/** The query interface (docs/reference/http.md "Queries"): HTTP around a `QueryService`. */
import { ProblemError, problems, type QueryProblem } from '../../contract/errors.ts';
import { smallBodyBytesMax } from '../../contract/limits.ts';
import {
  type GoodOutcome,
  type QueryOutcome,
  type QueryRequest,
  type QueryTarget,
  UnavailableError,
} from '../../query/query-service.ts';
import { resultsText } from '../../query/result/result-text.ts';
import { subjectKey } from '../../store/derived/subjects.ts';
import type { VersionVector } from '../../store/visibility/version.ts';
import { type Answer, jsonType } from '../answer.ts';
import type { AnswerKey, ComputedAnswer } from '../cache/answer-cache.ts';
import type { Call } from '../call.ts';
import { FinishedAnswer } from '../delivery/finished-answer.ts';
import { askedVersion } from '../delivery/min-version.ts';
import type { Handler } from '../handler.ts';
import type { Services } from '../services.ts';
import { headLines, headOf } from '../uws/reply.ts';
import { percentDecoded } from '../uws/text-decoding.ts';
import { multiRequests, singleRequest } from './query-requests.ts';
import { textWithViews } from './rows-with-views.ts';

/** A query with a longer body is not likely to be asked again. */
const keptBodyBytesMax = 4096;

const tooLarge = new ProblemError(
  problems.queryInvalid([`The body may have at most ${smallBodyBytesMax} bytes`]),
);

export function queryIndex(services: Services): Handler {
  const compute = single((call) => ({ kind: 'index', alias: pathText(call, 0) }));
  return (call) => answered(services, call, compute);
}

export function querySourceGroup(services: Services): Handler {
  const compute = single((call) => {
    const [sourceGroup, type] = [pathText(call, 0), pathText(call, 1)];
    return { kind: 'auto', sourceGroup, type };
  });
  return (call) => answered(services, call, compute);
}

export function querySources(services: Services): Handler {
  return (call) => answered(services, call, multi);
}

interface SentQuery {
  readonly call: Call;
  /** One character for each byte. */
  readonly body: string;
  readonly minVersion: VersionVector | null;
}

/** @throws ProblemError 400, 404; UnavailableError */
type Compute = (services: Services, sent: SentQuery) => Promise<ComputedAnswer>;

async function answered(services: Services, call: Call, compute: Compute): Promise<Answer> {
  const bytes = await call.body.bytes(smallBodyBytesMax, tooLarge);
  const minVersion = askedVersion(call, 400);
  const body = bytes.toString('latin1');
  const anew = () => compute(services, { call, body, minVersion });
  // A kept answer may be older than the version that is asked for.
  const isKept = minVersion === null && body.length <= keptBodyBytesMax;
  return inItsForm(isKept ? await keptOrComputed(services, call, body, anew) : (await anew()).answer);
}

function keptOrComputed(
  { cache }: Services,
  call: Call,
  body: string,
  compute: () => Promise<ComputedAnswer>,
): FinishedAnswer | Promise<FinishedAnswer> {
  const text = `${call.parameters.join('/')}\n${body}`;
  const key: AnswerKey = { kind: 'query', principal: call.client, text };
  return cache.find(key) ?? cache.answerTo(key, compute);
}

const head = headOf(200, headLines([['Content-Type', jsonType]]));

function inItsForm({ body }: FinishedAnswer): Answer {
  return { status: 200, body, contentType: jsonType, head };
}

function single(targetOf: (call: Call) => QueryTarget): Compute {
  return async (services, { call, body, minVersion }) => {
    const request = singleRequest(body, targetOf(call));
    const [outcome] = await run(services, call, [request], minVersion);
    if (outcome === undefined) throw new Error('the query service gave no outcome');
    if (!outcome.ok) throw new ProblemError(problems.queryInvalid(outcome.errors, outcome.status));
    return computed(services, [outcome], await textOf(services, call, outcome));
  };
}

async function multi(services: Services, { call, body, minVersion }: SentQuery): Promise<ComputedAnswer> {
  const requests = multiRequests(body);
  const outcomes = await run(services, call, requests, minVersion);
  const good = outcomes.filter((outcome) => outcome.ok);
  if (good.length < outcomes.length)
    throw new ProblemError(problems.queriesInvalid(badQueries(requests, outcomes)));
  const texts = await Promise.all(good.map((outcome) => textOf(services, call, outcome)));
  const labels = good.map((outcome) => outcome.labels);
  return computed(services, good, resultsText(texts, labels));
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

function textOf(services: Services, { client }: Call, { result }: GoodOutcome): Buffer | Promise<Buffer> {
  return result.kind === 'text' ? result.text : textWithViews(services, client, result);
}

function computed(
  { configuration }: Services,
  outcomes: readonly GoodOutcome[],
  text: Buffer,
): ComputedAnswer {
  return { answer: new FinishedAnswer(text), reads: () => readsOf(outcomes, configuration.current.digest) };
}

/**
 * The subjects of the indexes that were asked; null for an answer that must not be kept. Rows with views depend on more
 * than items. And a worker that does not follow a new configuration yet will follow it without a change of any item.
 */
function readsOf(outcomes: readonly GoodOutcome[], digest: string): readonly string[] | null {
  const isLasting = outcomes.every(
    ({ result, configuration }) => result.kind === 'text' && configuration === digest,
  );
  return isLasting ? outcomes.map(({ subject }) => subjectKey(subject)) : null;
}

/**
 * The queries that have mistakes of their own. One bad query makes the whole answer a 400
 * (docs/reference/indexes-and-queries.md "Mistakes").
 */
function badQueries(requests: readonly QueryRequest[], outcomes: readonly QueryOutcome[]): QueryProblem[] {
  return outcomes.flatMap((outcome, at) => {
    if (outcome.ok || outcome.errors.length === 0) return [];
    return [{ name: requests[at]?.name ?? null, status: outcome.status, errors: outcome.errors }];
  });
}

function pathText(call: Call, at: number): string {
  const text = percentDecoded(call.parameters[at] ?? '');
  if (text !== null) return text;
  throw new ProblemError(problems.queryInvalid(['The path must be percent-encoded UTF-8']));
}
