/**
 * The catalogue of all errors that a request can end with (docs/reference/errors.md). `src/http/routing/problem-answer.ts`
 * formats them for each interface.
 */

import { excerpt, grouped } from '../lib/message-text.ts';
import {
  bulkBodyBytesMax,
  bulkEntitiesMax,
  configurationBodyBytesMax,
  deliveryBodyBytesMax,
  deliveryDepthMax,
  deliveryKeysMax,
  deliveryReferencesMax,
  dryRunsPendingMax,
  entityBytesMax,
  previewBodyBytesMax,
  retryAfterSeconds,
  routesPageMax,
  routesPageMin,
  smallBodyBytesMax,
  urlCodePointsMax,
} from './limits.ts';

export interface Problem {
  /** Its key in the catalogue. It is stable, so that logs and documents can use it. */
  readonly name: string;
  readonly status: number;
  /** Says what to change. */
  readonly message: string;
  readonly errorCode?: 's-1001' | 's-1007';
  /** Field -> text for ingest; all errors for query. */
  readonly errors?: Readonly<Record<string, string>> | readonly string[];
  /** For a request with several queries: the queries with errors. */
  readonly queries?: readonly QueryProblem[];
  /** Seconds, for 429 and 503. */
  readonly retryAfter?: number;
  /** Methods that the path allows, for 405. */
  readonly allow?: string;
  /** Codings that the server can decode, for 415 (RFC 9110, section 12.5.3). */
  readonly acceptEncoding?: string;
}

/** The errors of one query of several. */
export interface QueryProblem {
  /** Members that the answer echoes: `name`, and what is queried. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly status: 400 | 403 | 404;
  readonly errors: readonly string[];
}

/** Ends a request with a documented error. Any other Error is a bug. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

type Unnamed = Omit<Problem, 'name'>;

function problem(status: number, message: string, more: Omit<Unnamed, 'status' | 'message'> = {}): Unnamed {
  return { status, message, ...more };
}

/** Problems, and functions that create one from details of a request. */
type ProblemGroup = Readonly<Record<string, Unnamed | ((...details: never[]) => Unnamed)>>;

type Named<Group extends ProblemGroup> = {
  readonly [Name in keyof Group]: Group[Name] extends (...details: infer Details) => Unnamed
    ? (...details: Details) => Problem
    : Problem;
};

/** Names each problem by its key. */
function named<Group extends ProblemGroup>(group: Group): Named<Group> {
  const problemsByName = Object.entries(group).map(([name, made]) => [
    name,
    typeof made === 'function'
      ? (...details: never[]): Problem => ({ name, ...made(...details) })
      : { name, ...made },
  ]);
  return Object.fromEntries(problemsByName);
}

const soon = { retryAfter: retryAfterSeconds };
const tooLarge = { errorCode: 's-1007' } as const;
const invalid = { errorCode: 's-1001' } as const;

/** Problems of every interface. */
const generalProblems = named({
  keyMissing: problem(401, 'Missing X-Api-Key header. Send an API key that is valid for this endpoint'),
  metricsKeyNeeded: problem(
    401,
    'Missing or wrong metrics key. Send the value of METRICS_KEY as "Authorization: Bearer <key>" or in X-Api-Key',
  ),
  keyUnknown: problem(401, 'Unknown API key. Check that it is complete and still configured'),
  sourceKeyNeeded: problem(403, 'This key cannot ingest. Use the API key of a source'),
  clientKeyNeeded: problem(403, 'This key cannot read. Use the API key of an environment client'),
  managementKeyNeeded: problem(403, 'This key cannot manage. Use the API key of a management client'),
  scopeMissing: (scope: string) =>
    problem(403, `This key lacks the scope "${scope}". Add the scope to its client, or use another key`),
  keyTooBusy: (retryAfter: number) =>
    problem(429, 'Too many requests with this key. Wait the number of seconds in Retry-After', {
      retryAfter,
    }),
  addressTooBusy: (retryAfter: number) =>
    problem(
      429,
      'Too many requests from this address without a known API key. Wait the number of seconds in Retry-After',
      { retryAfter },
    ),
  newKeysTooMany: (retryAfter: number) =>
    problem(
      429,
      'Too many new API keys in configurations of this tenant. Wait the number of seconds in Retry-After',
      { retryAfter },
    ),

  pathUnknown: problem(404, 'Not found. See /openapi.json for all endpoints'),
  methodWrong: (allow: string) => problem(405, `Method not allowed. Allowed: ${allow}`, { allow }),
  headerRepeated: (name: string) =>
    problem(400, `The ${name} header was sent twice with different values. Send it once`),
  lengthRequired: problem(
    411,
    'Missing Content-Length header. Send the length of the body in bytes; chunked bodies are not supported',
  ),
  contentCodingUnknown: (coding: string) =>
    problem(
      415,
      `The Content-Encoding ${JSON.stringify(coding.slice(0, 50))} is not supported. Send gzip, br or deflate, or an uncompressed body without that header`,
      { acceptEncoding: 'gzip, br, deflate' },
    ),
  bodyTooLarge: problem(413, `The body is too large. The limit is ${grouped(smallBodyBytesMax)} bytes`),
  bodyStoodStill: problem(408, 'Timeout while receiving the body. Send the request again'),
  internal: problem(500, 'Internal error. See the server log for details'),
  unavailable: problem(503, 'Service unavailable. Try again later', soon),
  notReady: problem(
    503,
    'This front is not ready; `waitingFor` lists what is missing. Try again later, or use another front',
  ),
  answersWaiting: problem(503, 'Too many responses are waiting for slow clients. Try again later', soon),
  liveAnswersFull: problem(503, 'Too many large live answers are open. Try again later', soon),
  storeFull: problem(
    503,
    'The store is full and cannot save. Reads and deletes still work; try again later',
    soon,
  ),
  ingestBusy: problem(
    503,
    'Too much work is queued. Nothing in this request was accepted; try again later',
    soon,
  ),
  versionNotReached: problem(
    503,
    'The version in the Min-Version header is not visible yet. Try again later',
    soon,
  ),
});

/** Problems of the ingest interface. */
const ingestProblems = named({
  entityTooLarge: problem(
    413,
    `The entity is too large. The limit is ${grouped(entityBytesMax)} bytes`,
    tooLarge,
  ),
  bulkTooLarge: problem(
    413,
    `The bulk request is too large. The limit is ${grouped(bulkBodyBytesMax)} bytes`,
    tooLarge,
  ),
  bulkDeleteTooLarge: problem(
    413,
    `The body is too large. The limit is ${grouped(smallBodyBytesMax)} bytes`,
    tooLarge,
  ),
  bodyNotJson: (message: string) => problem(422, message, invalid),
  bulkNotArray: problem(
    422,
    `The body must be a JSON array of at most ${bulkEntitiesMax} source entities`,
    invalid,
  ),
  bulkTooMany: problem(
    422,
    `Too many entities. Send at most ${bulkEntitiesMax} in one bulk request`,
    invalid,
  ),
  entityInvalid: (errors: Readonly<Record<string, string>>) =>
    problem(422, 'The entity is not valid', { ...invalid, errors }),
  requestInvalid: (errors: Readonly<Record<string, string>>) =>
    problem(422, 'The request is not valid', { ...invalid, errors }),
  entityNotFound: problem(404, 'This source has no entity with that originId'),
});

/** Problems of the delivery interface. */
const deliveryProblems = named({
  nothingAsked: problem(422, 'Missing id, handle or url query parameter'),
  severalUrls: problem(422, 'Only one url query parameter is allowed'),
  urlTooLong: problem(
    422,
    `The url query parameter is too long. The limit is ${grouped(urlCodePointsMax)} characters`,
  ),
  urlInvalid: problem(422, 'The url query parameter must begin with / or be an absolute http(s) URL'),
  handleTwice: (handle: string) =>
    problem(422, `Handles must be unique: ${JSON.stringify(excerpt(handle, 200))} appears twice`),
  tooManyKeys: problem(422, `At most ${grouped(deliveryKeysMax)} ids and handles together are allowed`),
  duplicatesFlagInvalid: problem(422, 'includeDuplicateViews must be true or false'),
  queryStringInvalid: problem(
    422,
    'The query string must be percent-encoded UTF-8. Encode every value with encodeURIComponent',
  ),
  deliveryBodyInvalid: (errors: readonly string[]) =>
    problem(422, `The body is not valid: ${errors.join('; ')}`),
  depthInvalid: problem(422, `depth must be a whole number from 0 to ${deliveryDepthMax}`),
  tooManyReferences: (property: string, alias: string) =>
    problem(
      422,
      `The response would contain more than ${grouped(deliveryReferencesMax)} references, most of them ` +
        `in the property \`${property}\` of the schema \`${alias}\`. Request fewer views, or set a \`depth\` ` +
        '(for queries: that of the environment client)',
    ),
  answerTooLarge: problem(
    422,
    `The response would be larger than ${grouped(deliveryBodyBytesMax)} bytes. Request fewer views`,
  ),
  versionInvalid: problem(
    422,
    'Invalid Min-Version header. Send the X-Service-Version of an ingest response unchanged',
  ),
});

/** Problems of the listings of routes. */
const routesProblems = named({
  pageSizeInvalid: problem(
    422,
    `Send either first or last, a whole number from ${routesPageMin} to ${routesPageMax}`,
  ),
  severalCursors: problem(422, 'Only one of after and before is allowed'),
  cursorInvalid: (parameter: string) =>
    problem(422, `Invalid cursor in ${parameter}. Send the startCursor or endCursor of a page unchanged`),
  routesFormatInvalid: problem(422, 'format must be json or sitemap'),
  sitemapBaseInvalid: problem(422, 'base must be an origin such as https://www.example.com'),
  offsetGone: problem(
    410,
    'The offset is unknown or too old. Read again without since, and replace your copy',
  ),
  continuationTokenInvalid: problem(
    422,
    'Invalid continuation token. Send the token of the previous page unchanged, or none to start again',
  ),
});

/** Problems of the query interface. */
const queryProblems = named({
  queryInvalid: (errors: readonly string[], status: 400 | 404 = 400) =>
    problem(status, 'Query is not valid', { errors }),
  indexForbidden: problem(403, 'Forbidden'),
  queriesInvalid: (queries: readonly QueryProblem[]) => problem(400, 'Query is not valid', { queries }),
});

/** Problems of the management interface. */
const managementProblems = named({
  parameterInvalid: (parameter: string, rule: string) => problem(422, `${parameter} ${rule}`),
  configurationInvalid: (errors: readonly string[]) =>
    problem(422, 'The configuration is not valid', { errors }),
  configurationTooLarge: problem(
    413,
    `The configuration is too large. The limit is ${grouped(configurationBodyBytesMax)} bytes`,
  ),
  configurationChanged: (digest: string) =>
    problem(
      409,
      `The active configuration has changed: its digest is ${digest}. Read it again and repeat your change`,
    ),
  configurationRefused: (reason: string) => problem(409, reason),
  dryRunsPending: problem(
    429,
    `Too many pending dry runs. The limit is ${dryRunsPendingMax} for each tenant; wait until one has ended`,
    { retryAfter: 1 },
  ),
  removalsNeedConsent: (errors: readonly string[]) =>
    problem(
      409,
      'This would remove parts of the configuration that have data. Send removals=true to confirm',
      { errors },
    ),
  previewInvalid: (errors: readonly string[]) =>
    problem(422, 'Preview failed: the schema or the entity is invalid', { errors }),
  previewTooLarge: problem(
    413,
    `The preview request is too large. The limit is ${grouped(previewBodyBytesMax)} bytes`,
  ),
  webhookWithoutSecret: problem(
    409,
    'The webhook has no secret, for example after a restore. Add one to tenant.json and try again',
  ),
  webhookUnanswered: (reason: string) => problem(502, `The test failed: ${reason}`),
  nothingThere: (what: string) => problem(404, what),
});

/** Problems by interface; each interface can also answer with those of `every`. */
export const problemGroups = {
  every: generalProblems,
  ingest: ingestProblems,
  delivery: deliveryProblems,
  routes: routesProblems,
  query: queryProblems,
  management: managementProblems,
} as const;

export const problems = {
  ...generalProblems,
  ...ingestProblems,
  ...deliveryProblems,
  ...routesProblems,
  ...queryProblems,
  ...managementProblems,
} as const;
