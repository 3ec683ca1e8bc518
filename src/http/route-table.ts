/**
 * The one table of endpoints. Routing, access rules, metrics' labels and `/openapi.json` all come from it; handlers are
 * joined to it by name in `handlers.ts`.
 */
import type { Json } from '../contract/json.ts';
import { deliveryKeysMax, routesPageMax, routesPageMin, urlCharactersMax } from '../contract/limits.ts';
import type { Shape } from '../contract/shape.ts';
import {
  acceptedShape,
  bulkAnswerShape,
  bulkBodyShape,
  bulkDeleteAnswerShape,
  bulkDeleteBodyShape,
  entityTypeShape,
  originIdShape,
  simplifiedEntityShape,
} from '../contract/shapes-ingest.ts';
import { ingestProblemShape } from '../contract/shapes-problems.ts';
import {
  autoQueryBodyShape,
  multiQueryAnswerShape,
  multiQueryBodyShape,
  queryAnswerShape,
  queryBodyShape,
} from '../contract/shapes-query.ts';
import {
  deliveryAnswerShape,
  deliveryBodyShape,
  deliveryKeysAnswerShape,
  liveShape,
  readyShape,
  routesV1AnswerShape,
  routesV2AnswerShape,
} from '../contract/shapes-read.ts';
import type { Access } from './access.ts';
import type { ProblemStyle } from './problem-answer.ts';

export interface ParameterDefinition {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly shape: Shape;
  readonly description: string;
}

export interface HeaderDefinition {
  /** Without prefix when `prefixed`. */
  readonly name: string;
  /** Read under every prefix of `HEADER_PREFIX`. */
  readonly prefixed: boolean;
  readonly description: string;
}

export interface AnswerDefinition {
  readonly description: string;
  /** Absent: no JSON body. */
  readonly shape?: Shape;
  readonly contentType?: string;
  readonly example?: Json;
  /** Response headers, named as under the first prefix. */
  readonly headers?: readonly HeaderDefinition[];
}

export interface RouteDefinition {
  readonly name: RouteName;
  readonly method: 'get' | 'post' | 'delete';
  /** OpenAPI form: `/ingest/v2/{originId}`. */
  readonly path: string;
  readonly tag: 'ingest' | 'delivery' | 'routes' | 'query' | 'operations';
  readonly summary: string;
  readonly access: Access;
  readonly problems: ProblemStyle;
  readonly parameters: readonly ParameterDefinition[];
  readonly headers: readonly HeaderDefinition[];
  /** Absent: the endpoint takes no body. */
  readonly body?: { readonly shape: Shape; readonly description?: string; readonly example?: Json };
  /** Statuses beside 400-range ones that `problemStatuses` names. */
  readonly answers: Readonly<Record<number, AnswerDefinition>>;
  /** Errors written in the style of `problems`. */
  readonly problemStatuses: readonly number[];
}

export type RouteName =
  | 'saveEntities'
  | 'saveEntity'
  | 'deleteEntity'
  | 'deleteEntities'
  | 'deliver'
  | 'deliverKeys'
  | 'listRoutesV1'
  | 'listRoutesV2'
  | 'queryIndex'
  | 'querySourceGroup'
  | 'querySources'
  | 'live'
  | 'ready'
  | 'metrics'
  | 'openapi';

const forceType: HeaderDefinition = {
  name: 'Force-Type',
  prefixed: true,
  description: '`true`, `TRUE` or `1` lets the entity change its type',
};
const minVersion: HeaderDefinition = {
  name: 'Min-Version',
  prefixed: true,
  description:
    'A token of an ingest answer: the answer shows at least that state (waits up to 5 s, then 503)',
};
const version: HeaderDefinition = {
  name: 'Version',
  prefixed: true,
  description: 'Opaque token of the state that this write belongs to; see Min-Version',
};
const etag: HeaderDefinition = { name: 'ETag', prefixed: false, description: 'For If-None-Match' };

const accepted = (message: string): AnswerDefinition => ({
  description: 'Durable, in order for its entity, and it will be processed',
  shape: acceptedShape,
  example: { status: 200, message },
  headers: [version],
});

const originIdParameter: ParameterDefinition = {
  name: 'originId',
  in: 'path',
  required: true,
  shape: originIdShape,
  description: 'Percent-encoded',
};
const includeDuplicateViews: ParameterDefinition = {
  name: 'includeDuplicateViews',
  in: 'query',
  shape: { type: 'boolean', default: false },
  description:
    'A view that several of the asked keys name is delivered under each of them instead of the first',
};
const deliveryHeaders: readonly HeaderDefinition[] = [
  minVersion,
  { name: 'If-None-Match', prefixed: false, description: 'An ETag: 304 when nothing changed' },
  { name: 'Accept-Encoding', prefixed: false, description: 'br or gzip, honoured over 1 KiB' },
];
const notModified: AnswerDefinition = { description: 'The answer is the one of the ETag', headers: [etag] };

const bulkExample: Json = [
  {
    originId: 'country-fr',
    type: 'country',
    url: '/europe/france',
    redirects: ['/countries/FR'],
    properties: { title: 'France' },
  },
];
const bulkAnswerExample: Json = {
  status: 200,
  changedSourceEntities: ['country-fr'],
  unchangedSourceEntities: [],
  errors: {},
  ingestMetadata: {
    ingestVersion: 'v2',
    ingestFormat: 'bulk',
    systemInfo: null,
    forceTypeOverwrite: false,
  },
};
const routeExample: Json = { url: '/europe/france', redirect: null, updatedAt: '2024-05-01T12:00:00.000Z' };
const queryAnswerExample: Json = {
  status: 200,
  totalResults: 1,
  results: [
    {
      _originId: 'country-fr',
      _sourceGuid: '32eb0c68-0f2c-4a52-9a5c-6f2f1f6c2d11',
      _updatedAt: '2024-05-01T12:00:00.000Z',
      title: 'France',
    },
  ],
  facets: [],
  nextPageToken: null,
};

export const routeTable: readonly RouteDefinition[] = [
  {
    name: 'saveEntities',
    method: 'post',
    path: '/ingest/v2',
    tag: 'ingest',
    summary: 'Save up to 50 entities',
    access: { kind: 'source' },
    problems: 'ingest',
    parameters: [],
    headers: [
      forceType,
      { name: 'System-Information', prefixed: true, description: 'Echoed as ingestMetadata.systemInfo' },
    ],
    body: { shape: bulkBodyShape, description: 'At most 209,715,200 bytes', example: bulkExample },
    answers: {
      200: {
        description: 'At least one entity was valid',
        shape: bulkAnswerShape,
        example: bulkAnswerExample,
        headers: [version],
      },
      422: {
        description: 'No entity was valid, or the request as a whole is not',
        shape: { anyOf: [bulkAnswerShape, ingestProblemShape] },
      },
    },
    problemStatuses: [401, 403, 408, 413, 422, 500, 503],
  },
  {
    name: 'saveEntity',
    method: 'post',
    path: '/ingest/v2/{originId}',
    tag: 'ingest',
    summary: 'Save one entity, raw (with the Type header) or simplified',
    access: { kind: 'source' },
    problems: 'ingest',
    parameters: [originIdParameter],
    headers: [
      forceType,
      { name: 'Type', prefixed: true, description: 'Makes the body raw: the properties alone' },
      { name: 'Url', prefixed: true, description: 'Raw form: the url' },
      { name: 'OriginParentId', prefixed: true, description: 'Raw form: originId of the parent' },
      { name: 'Redirects', prefixed: true, description: 'Raw form: redirect URLs, separated by commas' },
    ],
    body: {
      shape: simplifiedEntityShape,
      description: 'Simplified form; in raw form the properties alone. At most 5,242,880 bytes',
      example: { type: 'country', url: '/europe/france', properties: { title: 'France' } },
    },
    answers: { 200: accepted('Processing of the entity has begun') },
    problemStatuses: [401, 403, 408, 413, 422, 500, 503],
  },
  {
    name: 'deleteEntity',
    method: 'delete',
    path: '/ingest/v2/{originId}',
    tag: 'ingest',
    summary: 'Delete one entity',
    access: { kind: 'source' },
    problems: 'ingest',
    parameters: [originIdParameter],
    headers: [],
    answers: { 200: accepted('Deletion of the entity has begun') },
    problemStatuses: [401, 403, 404, 422, 500, 503],
  },
  {
    name: 'deleteEntities',
    method: 'delete',
    path: '/ingest/v2',
    tag: 'ingest',
    summary: 'Delete up to 50 entities',
    access: { kind: 'source' },
    problems: 'ingest',
    parameters: [],
    headers: [],
    body: { shape: bulkDeleteBodyShape, example: { originIds: ['country-fr', 'country-xx'] } },
    answers: {
      200: {
        description: 'Which entities were there',
        shape: bulkDeleteAnswerShape,
        example: {
          status: 200,
          deletedSourceEntities: ['country-fr'],
          notFoundSourceEntities: ['country-xx'],
          errors: {},
        },
        headers: [version],
      },
      422: {
        description: 'No originId was valid, or the request as a whole is not',
        shape: { anyOf: [bulkDeleteAnswerShape, ingestProblemShape] },
      },
    },
    problemStatuses: [401, 403, 408, 413, 422, 500, 503],
  },
  {
    name: 'deliver',
    method: 'get',
    path: '/v2',
    tag: 'delivery',
    summary: 'Get content by URL, ids or handles',
    access: { kind: 'client', scope: 'delivery' },
    problems: 'delivery',
    parameters: [
      {
        name: 'url',
        in: 'query',
        shape: { type: 'string', maxLength: urlCharactersMax },
        description: 'At most one',
      },
      {
        name: 'id',
        in: 'query',
        shape: { type: 'array', items: { type: 'string' } },
        description: 'A view id; may be repeated',
      },
      {
        name: 'handle',
        in: 'query',
        shape: { type: 'array', items: { type: 'string' }, uniqueItems: true },
        description: 'A handle; may be repeated, each handle once',
      },
      includeDuplicateViews,
    ],
    headers: deliveryHeaders,
    answers: {
      200: {
        description: '`meta.status` says 200, 301 (redirect) or 404 (no view has the url)',
        shape: deliveryAnswerShape,
        example: {
          meta: { status: 200, redirect: null, missingViewReferences: [] },
          route: { title: 'France' },
          views: {},
        },
        headers: [etag],
      },
      304: notModified,
    },
    problemStatuses: [401, 403, 422, 500, 503],
  },
  {
    name: 'deliverKeys',
    method: 'post',
    path: '/v2',
    tag: 'delivery',
    summary: 'Get content by ids or handles',
    access: { kind: 'client', scope: 'delivery' },
    problems: 'delivery',
    parameters: [includeDuplicateViews],
    headers: deliveryHeaders,
    body: {
      shape: deliveryBodyShape,
      description: `At most ${deliveryKeysMax} ids and handles together`,
      example: { handles: ['continents'] },
    },
    answers: {
      200: {
        description: 'The views that there are',
        shape: deliveryKeysAnswerShape,
        example: {
          meta: { status: 200, redirect: null, missingViewReferences: [] },
          views: { continents: { title: 'Continents' } },
        },
        headers: [etag],
      },
      304: notModified,
    },
    problemStatuses: [401, 403, 408, 422, 500, 503],
  },
  {
    name: 'listRoutesV1',
    method: 'get',
    path: '/routes/v1',
    tag: 'routes',
    summary: 'List the routes of the environment, paged by cursors',
    access: { kind: 'client', scope: 'routes' },
    problems: 'plain',
    parameters: [
      {
        name: 'first',
        in: 'query',
        shape: { type: 'integer', minimum: routesPageMin, maximum: routesPageMax },
        description: 'Page size, ascending by URL; exactly one of first and last',
      },
      {
        name: 'last',
        in: 'query',
        shape: { type: 'integer', minimum: routesPageMin, maximum: routesPageMax },
        description: 'Page size, descending by URL; exactly one of first and last',
      },
      {
        name: 'after',
        in: 'query',
        shape: { type: 'string' },
        description: 'endCursor of a page: the page after it',
      },
      {
        name: 'before',
        in: 'query',
        shape: { type: 'string' },
        description: 'startCursor of a page: the page before it',
      },
    ],
    headers: [minVersion],
    answers: {
      200: {
        description: 'A page of routes',
        shape: routesV1AnswerShape,
        example: {
          total: 1,
          pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: 'AbC', endCursor: 'AbC' },
          results: [routeExample],
        },
      },
    },
    problemStatuses: [401, 403, 422, 500, 503],
  },
  {
    name: 'listRoutesV2',
    method: 'get',
    path: '/routes/v2',
    tag: 'routes',
    summary: 'List all routes of the environment, 500 a page',
    access: { kind: 'client', scope: 'routes' },
    problems: 'plain',
    parameters: [
      {
        name: 'continuationToken',
        in: 'query',
        shape: { type: 'string' },
        description: 'continuationToken of the page before',
      },
    ],
    headers: [
      minVersion,
      {
        name: 'X-Continuation-Token',
        prefixed: false,
        description: 'As the query parameter continuationToken',
      },
    ],
    answers: {
      200: {
        description: 'A page of routes',
        shape: routesV2AnswerShape,
        example: { continuationToken: null, results: [routeExample] },
      },
    },
    problemStatuses: [401, 403, 422, 500, 503],
  },
  {
    name: 'querySources',
    method: 'post',
    path: '/v1/source',
    tag: 'query',
    summary: 'Up to 5 queries over auto-indexed source groups',
    access: { kind: 'client', scope: 'source' },
    problems: 'multiQuery',
    parameters: [],
    headers: [minVersion],
    body: {
      shape: multiQueryBodyShape,
      example: [{ name: 'all', sourceGroupAlias: 'cms', sourceEntityType: 'country' }],
    },
    answers: {
      200: {
        description: 'One result per query',
        shape: multiQueryAnswerShape,
        example: [
          { ...queryAnswerExample, sourceGroupAlias: 'cms', sourceEntityType: 'country', name: 'all' },
        ],
      },
    },
    problemStatuses: [400, 401, 403, 404, 408, 500, 503],
  },
  {
    name: 'querySourceGroup',
    method: 'post',
    path: '/v1/sourceGroupAlias/{sourceGroupAlias}/type/{sourceEntityType}',
    tag: 'query',
    summary: 'Query the entities of an auto-indexed source group',
    access: { kind: 'client', scope: 'source' },
    problems: 'query',
    parameters: [
      {
        name: 'sourceGroupAlias',
        in: 'path',
        required: true,
        shape: { type: 'string' },
        description: 'Alias of the source group',
      },
      {
        name: 'sourceEntityType',
        in: 'path',
        required: true,
        shape: entityTypeShape,
        description: 'Entity type',
      },
    ],
    headers: [minVersion],
    body: { shape: autoQueryBodyShape, example: {} },
    answers: {
      200: { description: 'The result', shape: queryAnswerShape, example: queryAnswerExample },
    },
    problemStatuses: [400, 401, 403, 404, 408, 500, 503],
  },
  {
    name: 'queryIndex',
    method: 'post',
    path: '/v1/{indexAlias}',
    tag: 'query',
    summary: 'Query the items of an index',
    access: { kind: 'client', scope: 'query' },
    problems: 'query',
    parameters: [
      {
        name: 'indexAlias',
        in: 'path',
        required: true,
        shape: { type: 'string' },
        description: 'Alias of the index',
      },
    ],
    headers: [minVersion],
    body: {
      shape: queryBodyShape,
      example: { filters: { and: [{ field: 'continent', operator: 'equals', value: 'Europe' }] } },
    },
    answers: {
      200: { description: 'The result', shape: queryAnswerShape, example: queryAnswerExample },
    },
    problemStatuses: [400, 401, 403, 404, 408, 500, 503],
  },
  {
    name: 'live',
    method: 'get',
    path: '/health/live',
    tag: 'operations',
    summary: '200 while the process runs',
    access: { kind: 'open' },
    problems: 'plain',
    parameters: [],
    headers: [],
    answers: { 200: { description: 'It runs', shape: liveShape, example: { status: 200 } } },
    problemStatuses: [],
  },
  {
    name: 'ready',
    method: 'get',
    path: '/health/ready',
    tag: 'operations',
    summary: '200 once everything that requests need is there',
    access: { kind: 'open' },
    problems: 'plain',
    parameters: [],
    headers: [],
    answers: {
      200: { description: 'Ready', shape: readyShape, example: { status: 200, waitingFor: [] } },
      503: {
        description: 'Not yet; waitingFor says why',
        shape: readyShape,
        example: { status: 503, waitingFor: ['partition 3 has no owner'] },
      },
    },
    problemStatuses: [],
  },
  {
    name: 'metrics',
    method: 'get',
    path: '/metrics',
    tag: 'operations',
    summary: 'Prometheus text',
    access: { kind: 'open' },
    problems: 'plain',
    parameters: [],
    headers: [],
    answers: {
      200: { description: 'Prometheus text', contentType: 'text/plain; version=0.0.4; charset=utf-8' },
    },
    problemStatuses: [500],
  },
  {
    name: 'openapi',
    method: 'get',
    path: '/openapi.json',
    tag: 'operations',
    summary: 'This document',
    access: { kind: 'open' },
    problems: 'plain',
    parameters: [],
    headers: [],
    answers: { 200: { description: 'OpenAPI 3.1', shape: { type: 'object' } } },
    problemStatuses: [],
  },
];
