/**
 * The catalogue of all errors that a request can end with (docs/reference/errors.md). `src/http/routing/problem-answer.ts`
 * formats them for each interface.
 */
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

/** Problems, and functions that create one from details of a request. */
type ProblemGroup = Readonly<Record<string, Problem | ((...details: never[]) => Problem)>>;

const count = (value: number) => value.toLocaleString('en-US');

/** Problems of every interface. */
const generalProblems = {
  keyMissing: {
    name: 'keyMissing',
    status: 401,
    message: 'Missing X-Api-Key header. Send an API key that is valid for this endpoint',
  },
  metricsKeyNeeded: {
    name: 'metricsKeyNeeded',
    status: 401,
    message:
      'Missing or wrong metrics key. Send the value of METRICS_KEY as "Authorization: Bearer <key>" or in X-Api-Key',
  },
  keyUnknown: {
    name: 'keyUnknown',
    status: 401,
    message: 'Unknown API key. Check that it is complete and still configured',
  },
  sourceKeyNeeded: {
    name: 'sourceKeyNeeded',
    status: 403,
    message: 'This key cannot ingest. Use the API key of a source',
  },
  clientKeyNeeded: {
    name: 'clientKeyNeeded',
    status: 403,
    message: 'This key cannot read. Use the API key of an environment client',
  },
  managementKeyNeeded: {
    name: 'managementKeyNeeded',
    status: 403,
    message: 'This key cannot manage. Use the API key of a management client',
  },
  scopeMissing: (scope: string): Problem => ({
    name: 'scopeMissing',
    status: 403,
    message: `This key lacks the scope "${scope}". Add the scope to its client, or use another key`,
  }),
  keyTooBusy: (retryAfter: number): Problem => ({
    name: 'keyTooBusy',
    status: 429,
    message: 'Too many requests with this key. Wait the number of seconds in Retry-After',
    retryAfter,
  }),
  addressTooBusy: (retryAfter: number): Problem => ({
    name: 'addressTooBusy',
    status: 429,
    message:
      'Too many requests from this address without a known API key. Wait the number of seconds in Retry-After',
    retryAfter,
  }),
  newKeysTooMany: (retryAfter: number): Problem => ({
    name: 'newKeysTooMany',
    status: 429,
    message:
      'Too many new API keys in configurations of this tenant. Wait the number of seconds in Retry-After',
    retryAfter,
  }),

  pathUnknown: {
    name: 'pathUnknown',
    status: 404,
    message: 'Not found. See /openapi.json for all endpoints',
  },
  methodWrong: (allow: string): Problem => ({
    name: 'methodWrong',
    status: 405,
    message: `Method not allowed. Allowed: ${allow}`,
    allow,
  }),
  headerRepeated: (name: string): Problem => ({
    name: 'headerRepeated',
    status: 400,
    message: `The ${name} header was sent twice with different values. Send it once`,
  }),
  lengthRequired: {
    name: 'lengthRequired',
    status: 411,
    message:
      'Missing Content-Length header. Send the length of the body in bytes; chunked bodies are not supported',
  },
  contentCodingUnknown: (coding: string): Problem => ({
    name: 'contentCodingUnknown',
    status: 415,
    message: `The Content-Encoding ${JSON.stringify(coding.slice(0, 50))} is not supported. Send gzip, br or deflate, or an uncompressed body without that header`,
    acceptEncoding: 'gzip, br, deflate',
  }),
  bodyTooLarge: {
    name: 'bodyTooLarge',
    status: 413,
    message: `The body is too large. The limit is ${count(smallBodyBytesMax)} bytes`,
  },
  bodyStoodStill: {
    name: 'bodyStoodStill',
    status: 408,
    message: 'Timeout while receiving the body. Send the request again',
  },
  internal: {
    name: 'internal',
    status: 500,
    message: 'Internal error. See the server log for details',
  },
  unavailable: {
    name: 'unavailable',
    status: 503,
    message: 'Service unavailable. Try again later',
    retryAfter: retryAfterSeconds,
  },
  notReady: {
    name: 'notReady',
    status: 503,
    message:
      'This front is not ready; `waitingFor` lists what is missing. Try again later, or use another front',
  },
  answersWaiting: {
    name: 'answersWaiting',
    status: 503,
    message: 'Too many responses are waiting for slow clients. Try again later',
    retryAfter: retryAfterSeconds,
  },
  liveAnswersFull: {
    name: 'liveAnswersFull',
    status: 503,
    message: 'Too many large live answers are open. Try again later',
    retryAfter: retryAfterSeconds,
  },
  storeFull: {
    name: 'storeFull',
    status: 503,
    message: 'The store is full and cannot save. Reads and deletes still work; try again later',
    retryAfter: retryAfterSeconds,
  },
  ingestBusy: {
    name: 'ingestBusy',
    status: 503,
    message: 'Too much work is queued. Nothing in this request was accepted; try again later',
    retryAfter: retryAfterSeconds,
  },
  versionNotReached: {
    name: 'versionNotReached',
    status: 503,
    message: 'The version in the Min-Version header is not visible yet. Try again later',
    retryAfter: retryAfterSeconds,
  },
} as const satisfies ProblemGroup;

/** Problems of the ingest interface. */
const ingestProblems = {
  entityTooLarge: {
    name: 'entityTooLarge',
    status: 413,
    message: `The entity is too large. The limit is ${count(entityBytesMax)} bytes`,
    errorCode: 's-1007',
  },
  bulkTooLarge: {
    name: 'bulkTooLarge',
    status: 413,
    message: `The bulk request is too large. The limit is ${count(bulkBodyBytesMax)} bytes`,
    errorCode: 's-1007',
  },
  bulkDeleteTooLarge: {
    name: 'bulkDeleteTooLarge',
    status: 413,
    message: `The body is too large. The limit is ${count(smallBodyBytesMax)} bytes`,
    errorCode: 's-1007',
  },
  bodyNotJson: (message: string): Problem => ({
    name: 'bodyNotJson',
    status: 422,
    message,
    errorCode: 's-1001',
  }),
  bulkNotArray: {
    name: 'bulkNotArray',
    status: 422,
    message: `The body must be a JSON array of at most ${bulkEntitiesMax} source entities`,
    errorCode: 's-1001',
  },
  bulkTooMany: {
    name: 'bulkTooMany',
    status: 422,
    message: `Too many entities. Send at most ${bulkEntitiesMax} in one bulk request`,
    errorCode: 's-1001',
  },
  entityInvalid: (errors: Readonly<Record<string, string>>): Problem => ({
    name: 'entityInvalid',
    status: 422,
    message: 'The entity is not valid',
    errorCode: 's-1001',
    errors,
  }),
  requestInvalid: (errors: Readonly<Record<string, string>>): Problem => ({
    name: 'requestInvalid',
    status: 422,
    message: 'The request is not valid',
    errorCode: 's-1001',
    errors,
  }),
  entityNotFound: {
    name: 'entityNotFound',
    status: 404,
    message: 'This source has no entity with that originId',
  },
} as const satisfies ProblemGroup;

/** Problems of the delivery interface. */
const deliveryProblems = {
  nothingAsked: { name: 'nothingAsked', status: 422, message: 'Missing id, handle or url query parameter' },
  severalUrls: { name: 'severalUrls', status: 422, message: 'Only one url query parameter is allowed' },
  urlTooLong: {
    name: 'urlTooLong',
    status: 422,
    message: `The url query parameter is too long. The limit is ${count(urlCodePointsMax)} characters`,
  },
  urlInvalid: {
    name: 'urlInvalid',
    status: 422,
    message: 'The url query parameter must begin with / or be an absolute http(s) URL',
  },
  handleTwice: (handle: string): Problem => ({
    name: 'handleTwice',
    status: 422,
    message: `Handles must be unique: ${JSON.stringify(handle.slice(0, 200))} appears twice`,
  }),
  tooManyKeys: {
    name: 'tooManyKeys',
    status: 422,
    message: `At most ${count(deliveryKeysMax)} ids and handles together are allowed`,
  },
  duplicatesFlagInvalid: {
    name: 'duplicatesFlagInvalid',
    status: 422,
    message: 'includeDuplicateViews must be true or false',
  },
  queryStringInvalid: {
    name: 'queryStringInvalid',
    status: 422,
    message: 'The query string must be percent-encoded UTF-8. Encode every value with encodeURIComponent',
  },
  deliveryBodyInvalid: (mistakes: readonly string[]): Problem => ({
    name: 'deliveryBodyInvalid',
    status: 422,
    message: `The body is not valid: ${mistakes.join('; ')}`,
  }),
  depthInvalid: {
    name: 'depthInvalid',
    status: 422,
    message: `depth must be a whole number from 0 to ${deliveryDepthMax}`,
  },
  tooManyReferences: (property: string, alias: string): Problem => ({
    name: 'tooManyReferences',
    status: 422,
    message:
      `The response would contain more than ${count(deliveryReferencesMax)} references, most of them ` +
      `in the property \`${property}\` of the schema \`${alias}\`. Request fewer views, or send a depth`,
  }),
  answerTooLarge: {
    name: 'answerTooLarge',
    status: 422,
    message: `The response would be larger than ${count(deliveryBodyBytesMax)} bytes. Request fewer views`,
  },
  versionInvalid: {
    name: 'versionInvalid',
    status: 422,
    message: 'Invalid Min-Version header. Send the X-Service-Version of an ingest response unchanged',
  },
} as const satisfies ProblemGroup;

/** Problems of the listings of routes. */
const routesProblems = {
  pageSizeInvalid: {
    name: 'pageSizeInvalid',
    status: 422,
    message: `Send either first or last, a whole number from ${routesPageMin} to ${routesPageMax}`,
  },
  severalCursors: { name: 'severalCursors', status: 422, message: 'Only one of after and before is allowed' },
  cursorInvalid: (parameter: string): Problem => ({
    name: 'cursorInvalid',
    status: 422,
    message: `Invalid cursor in ${parameter}. Send the startCursor or endCursor of a page unchanged`,
  }),
  routesFormatInvalid: {
    name: 'routesFormatInvalid',
    status: 422,
    message: 'format must be json or sitemap',
  },
  sitemapBaseInvalid: {
    name: 'sitemapBaseInvalid',
    status: 422,
    message: 'base must be an origin such as https://www.example.com',
  },
  offsetGone: {
    name: 'offsetGone',
    status: 410,
    message: 'The offset is unknown or too old. Read again without since, and replace your copy',
  },
  continuationTokenInvalid: {
    name: 'continuationTokenInvalid',
    status: 422,
    message:
      'Invalid continuation token. Send the token of the previous page unchanged, or none to start again',
  },
} as const satisfies ProblemGroup;

/** Problems of the query interface. */
const queryProblems = {
  queryInvalid: (errors: readonly string[], status: 400 | 404 = 400): Problem => ({
    name: 'queryInvalid',
    status,
    message: 'Query is not valid',
    errors,
  }),
  indexForbidden: { name: 'indexForbidden', status: 403, message: 'Forbidden' },
  queriesInvalid: (queries: readonly QueryProblem[]): Problem => ({
    name: 'queriesInvalid',
    status: 400,
    message: 'Query is not valid',
    queries,
  }),
} as const satisfies ProblemGroup;

/** Problems of the management interface. */
const managementProblems = {
  parameterInvalid: (parameter: string, rule: string): Problem => ({
    name: 'parameterInvalid',
    status: 422,
    message: `${parameter} ${rule}`,
  }),
  configurationInvalid: (errors: readonly string[]): Problem => ({
    name: 'configurationInvalid',
    status: 422,
    message: 'The configuration is not valid',
    errors,
  }),
  configurationTooLarge: {
    name: 'configurationTooLarge',
    status: 413,
    message: `The configuration is too large. The limit is ${count(configurationBodyBytesMax)} bytes`,
  },
  configurationChanged: (digest: string): Problem => ({
    name: 'configurationChanged',
    status: 409,
    message: `The active configuration has changed: its digest is ${digest}. Read it again and repeat your change`,
  }),
  configurationRefused: (reason: string): Problem => ({
    name: 'configurationRefused',
    status: 409,
    message: reason,
  }),
  dryRunsPending: {
    name: 'dryRunsPending',
    status: 429,
    message: `Too many pending dry runs. The limit is ${dryRunsPendingMax} for each tenant; wait until one has ended`,
    retryAfter: 1,
  },
  removalsNeedConsent: (errors: readonly string[]): Problem => ({
    name: 'removalsNeedConsent',
    status: 409,
    message: 'This would remove parts of the configuration that have data. Send removals=true to confirm',
    errors,
  }),
  previewInvalid: (errors: readonly string[]): Problem => ({
    name: 'previewInvalid',
    status: 422,
    message: 'Preview failed: the schema or the entity is invalid',
    errors,
  }),
  previewTooLarge: {
    name: 'previewTooLarge',
    status: 413,
    message: `The preview request is too large. The limit is ${count(previewBodyBytesMax)} bytes`,
  },
  webhookWithoutSecret: {
    name: 'webhookWithoutSecret',
    status: 409,
    message: 'The webhook has no secret, for example after a restore. Add one to tenant.json and try again',
  },
  webhookUnanswered: (reason: string): Problem => ({
    name: 'webhookUnanswered',
    status: 502,
    message: `The test failed: ${reason}`,
  }),
  nothingThere: (what: string): Problem => ({ name: 'nothingThere', status: 404, message: what }),
} as const satisfies ProblemGroup;

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
