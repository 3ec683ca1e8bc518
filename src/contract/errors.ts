/**
 * Every error that a request can end with (docs/reference/errors.md): one catalogue.
 * How each interface writes one down is `src/http/routing/problem-answer.ts`.
 */
import {
  bulkBodyBytesMax,
  bulkEntitiesMax,
  configurationBodyBytesMax,
  deliveryBodyBytesMax,
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
  /** Its key in the catalogue: stable, so that logs and documents can name it. */
  readonly name: string;
  readonly status: number;
  /** Says what to change. */
  readonly message: string;
  readonly errorCode?: 's-1001' | 's-1007';
  /** Field -> text for ingest, every mistake found for query. */
  readonly errors?: Readonly<Record<string, string>> | readonly string[];
  /** For a request with several queries: the queries that have mistakes. */
  readonly queries?: readonly QueryProblem[];
  /** Seconds, for 429 and 503. */
  readonly retryAfter?: number;
  /** Methods that the path knows, for 405. */
  readonly allow?: string;
  /** Codings that the server can unpack, for 415 (RFC 9110, section 12.5.3). */
  readonly acceptEncoding?: string;
}

/** What is wrong with one query of several. */
export interface QueryProblem {
  /** Members that the answer echoes: `name`, and what the query asks. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly status: 400 | 403 | 404;
  readonly errors: readonly string[];
}

/** Ends a request with a documented error. A bug of ours is any other Error. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

/** Problems, and functions that make one from details of a request. */
type ProblemGroup = Readonly<Record<string, Problem | ((...details: never[]) => Problem)>>;

const count = (value: number) => value.toLocaleString('en-US');

/** Problems of every interface. */
const generalProblems = {
  keyMissing: {
    name: 'keyMissing',
    status: 401,
    message: 'The X-Api-Key header is missing: send the API key of this interface in it',
  },
  metricsKeyNeeded: {
    name: 'metricsKeyNeeded',
    status: 401,
    message: 'Send the key of the setting METRICS_KEY, as "Authorization: Bearer <key>" or in X-Api-Key',
  },
  keyUnknown: {
    name: 'keyUnknown',
    status: 401,
    message:
      'The X-Api-Key header holds no known key: check that it was copied whole and is still in the configuration',
  },
  sourceKeyNeeded: {
    name: 'sourceKeyNeeded',
    status: 403,
    message: 'This key may not ingest: use the API key of a data source',
  },
  clientKeyNeeded: {
    name: 'clientKeyNeeded',
    status: 403,
    message: 'This key may not read: use the API key of an environment client',
  },
  managementKeyNeeded: {
    name: 'managementKeyNeeded',
    status: 403,
    message: 'This key may not manage: use the API key of a management client',
  },
  scopeMissing: (scope: string): Problem => ({
    name: 'scopeMissing',
    status: 403,
    message: `This key lacks the scope "${scope}": add it to the scopes of its client, or use another key`,
  }),
  keyTooBusy: (retryAfter: number): Problem => ({
    name: 'keyTooBusy',
    status: 429,
    message: 'This key sends more requests a second than it may: try again later',
    retryAfter,
  }),
  addressTooBusy: (retryAfter: number): Problem => ({
    name: 'addressTooBusy',
    status: 429,
    message: 'This address sends more requests a second without a known API key than it may: try again later',
    retryAfter,
  }),

  pathUnknown: {
    name: 'pathUnknown',
    status: 404,
    message: 'Nothing is found at this path; /openapi.json lists every endpoint',
  },
  methodWrong: (allow: string): Problem => ({
    name: 'methodWrong',
    status: 405,
    message: `This path does not know the method; use ${allow}`,
    allow,
  }),
  lengthRequired: {
    name: 'lengthRequired',
    status: 411,
    message:
      'Send the Content-Length header with the byte length of the body; chunked bodies are not supported',
  },
  contentCodingUnknown: (coding: string): Problem => ({
    name: 'contentCodingUnknown',
    status: 415,
    message: `The Content-Encoding ${JSON.stringify(coding.slice(0, 50))} is not supported: send gzip, br or deflate, or the body as it is without that header`,
    acceptEncoding: 'gzip, br, deflate',
  }),
  bodyTooLarge: {
    name: 'bodyTooLarge',
    status: 413,
    message: `The body may have at most ${count(smallBodyBytesMax)} bytes`,
  },
  bodyStoodStill: {
    name: 'bodyStoodStill',
    status: 408,
    message: 'The body stopped arriving before it was whole: send the request again',
  },
  internal: {
    name: 'internal',
    status: 500,
    message: 'Internal error: the log of the platform describes it',
  },
  unavailable: {
    name: 'unavailable',
    status: 503,
    message: 'The service cannot answer right now: try again later',
    retryAfter: retryAfterSeconds,
  },
  answersWaiting: {
    name: 'answersWaiting',
    status: 503,
    message: 'Too many answers wait for clients that read slowly: try again later',
    retryAfter: retryAfterSeconds,
  },
  liveAnswersFull: {
    name: 'liveAnswersFull',
    status: 503,
    message: 'Clients follow too many large answers already: try again later',
    retryAfter: retryAfterSeconds,
  },
  storeFull: {
    name: 'storeFull',
    status: 503,
    message:
      'The store is full, so nothing new can be saved before there is space again: deletes and reads work, try again later',
    retryAfter: retryAfterSeconds,
  },
  ingestBusy: {
    name: 'ingestBusy',
    status: 503,
    message: 'Too much accepted work is waiting: nothing of this request was accepted, try again later',
    retryAfter: retryAfterSeconds,
  },
  versionNotReached: {
    name: 'versionNotReached',
    status: 503,
    message: 'The state that the Min-Version header asks for is not visible yet: try again later',
    retryAfter: retryAfterSeconds,
  },
} as const satisfies ProblemGroup;

/** Problems of the ingest interface. */
const ingestProblems = {
  entityTooLarge: {
    name: 'entityTooLarge',
    status: 413,
    message: `An entity may have at most ${count(entityBytesMax)} bytes`,
    errorCode: 's-1007',
  },
  bulkTooLarge: {
    name: 'bulkTooLarge',
    status: 413,
    message: `A bulk request may have at most ${count(bulkBodyBytesMax)} bytes`,
    errorCode: 's-1007',
  },
  bulkDeleteTooLarge: {
    name: 'bulkDeleteTooLarge',
    status: 413,
    message: `The body may have at most ${smallBodyBytesMax} bytes`,
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
    message: `A bulk request may hold at most ${bulkEntitiesMax} entities: split it`,
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
    message: `The url query parameter may have at most ${count(urlCodePointsMax)} characters`,
  },
  urlInvalid: {
    name: 'urlInvalid',
    status: 422,
    message: 'The url query parameter must begin with / or be an absolute http(s) URL',
  },
  handleTwice: (handle: string): Problem => ({
    name: 'handleTwice',
    status: 422,
    message: `Handles must be unique, but ${JSON.stringify(handle.slice(0, 200))} is asked for twice`,
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
    message: 'The query string is not percent-encoded UTF-8: encode every value (encodeURIComponent)',
  },
  deliveryBodyInvalid: (mistakes: readonly string[]): Problem => ({
    name: 'deliveryBodyInvalid',
    status: 422,
    message: `The body is not valid: ${mistakes.join('; ')}`,
  }),
  tooManyReferences: {
    name: 'tooManyReferences',
    status: 422,
    message: `The answer would hold more than ${count(deliveryReferencesMax)} references: ask for fewer views`,
  },
  answerTooLarge: {
    name: 'answerTooLarge',
    status: 422,
    message: `The answer would be larger than ${count(deliveryBodyBytesMax)} bytes: ask for fewer views`,
  },
  versionInvalid: {
    name: 'versionInvalid',
    status: 422,
    message:
      'The Min-Version header holds no token that an ingest endpoint gave: send the X-Service-Version of its answer as it was',
  },
} as const satisfies ProblemGroup;

/** Problems of the listings of routes. */
const routesProblems = {
  pageSizeInvalid: {
    name: 'pageSizeInvalid',
    status: 422,
    message: `Exactly one of first and last is required, a whole number from ${routesPageMin} to ${routesPageMax}`,
  },
  severalCursors: { name: 'severalCursors', status: 422, message: 'Only one of after and before is allowed' },
  cursorInvalid: (parameter: string): Problem => ({
    name: 'cursorInvalid',
    status: 422,
    message: `${parameter} holds no cursor that this endpoint gave: send the startCursor or endCursor of a page as it was`,
  }),
  offsetGone: {
    name: 'offsetGone',
    status: 410,
    message:
      'This offset is none that this environment gave, or its removals are no longer known: read again without since, and replace your copy',
  },
  continuationTokenInvalid: {
    name: 'continuationTokenInvalid',
    status: 422,
    message:
      'The continuation token is none that this endpoint gave: send that of the page before as it was, or none to begin anew',
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
    message: `The documents of a tenant may have at most ${count(configurationBodyBytesMax)} bytes together`,
  },
  configurationChanged: (digest: string): Problem => ({
    name: 'configurationChanged',
    status: 409,
    message: `The active configuration is another one than expected: its digest is ${digest}. Read it, and make your change in it`,
  }),
  configurationRefused: (reason: string): Problem => ({
    name: 'configurationRefused',
    status: 409,
    message: reason,
  }),
  dryRunsPending: {
    name: 'dryRunsPending',
    status: 429,
    message: `At most ${dryRunsPendingMax} dry runs of a tenant may be pending: wait until one has ended`,
    retryAfter: 1,
  },
  removalsNeedConsent: (errors: readonly string[]): Problem => ({
    name: 'removalsNeedConsent',
    status: 409,
    message: 'This would remove what has data: send removals=true if that is meant',
    errors,
  }),
  previewInvalid: (errors: readonly string[]): Problem => ({
    name: 'previewInvalid',
    status: 422,
    message: 'There is no preview of this',
    errors,
  }),
  previewTooLarge: {
    name: 'previewTooLarge',
    status: 413,
    message: `The schema and the entity of a preview may have at most ${count(previewBodyBytesMax)} bytes together`,
  },
  webhookWithoutSecret: {
    name: 'webhookWithoutSecret',
    status: 409,
    message: 'The webhook has no secret, as after a restore: write one into tenant.json, then try again',
  },
  webhookUnanswered: (reason: string): Problem => ({
    name: 'webhookUnanswered',
    status: 502,
    message: `The test failed: ${reason}`,
  }),
  nothingThere: (what: string): Problem => ({ name: 'nothingThere', status: 404, message: what }),
} as const satisfies ProblemGroup;

/** Problems by interface; each interface can answer with those of `every`. */
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
