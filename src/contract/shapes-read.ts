/** Requests and responses of the delivery, routes, changes and operations interfaces (docs/reference/http.md). */
import { deliveryDepthMax, deliveryKeysMax } from './limits.ts';
import type { Shape, ValueOf } from './shape.ts';
import { plainProblemShape } from './shapes-problems.ts';

const keyListShape = {
  type: ['array', 'null'],
  items: { type: 'string' },
  maxItems: deliveryKeysMax,
} as const satisfies Shape;

export const deliveryBodyShape = {
  type: 'object',
  properties: {
    ids: { ...keyListShape, description: 'View ids' },
    handles: { ...keyListShape, description: 'Handles, each once' },
    depth: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: deliveryDepthMax,
      description: "References deeper than this are cut; absent: the client's `depth`",
    },
  },
  examples: [{ handles: ['continents'] }],
} as const satisfies Shape;

const listedReferencesShape = {
  type: 'array',
  items: {
    component: 'ListedReference',
    type: 'object',
    properties: {
      path: { type: 'string', examples: ['route.related[1].author'] },
      viewId: { type: 'string' },
    },
    required: ['path', 'viewId'],
  },
} as const satisfies Shape;

export const metaShape = {
  component: 'DeliveryMeta',
  type: 'object',
  properties: {
    status: { type: 'integer', enum: [200, 301, 404] },
    redirect: { type: ['string', 'null'], description: 'URL to redirect to if status is 301' },
    missingViewReferences: listedReferencesShape,
    cutViewReferences: {
      ...listedReferencesShape,
      description: 'References deeper than `depth`; only if there is a depth',
    },
  },
  required: ['status', 'missingViewReferences'],
} as const satisfies Shape;

/** A view: any JSON object. */
export const viewShape = {
  component: 'View',
  type: 'object',
  additionalProperties: true,
  description: 'As its schema defines',
} as const satisfies Shape;

const viewsShape = {
  type: 'object',
  additionalProperties: viewShape,
  description: 'View id or handle -> view',
} as const satisfies Shape;

export const deliveryAnswerShape = {
  component: 'Delivery',
  type: 'object',
  properties: { meta: metaShape, route: { anyOf: [viewShape, { type: 'null' }] }, views: viewsShape },
  required: ['meta', 'route', 'views'],
} as const satisfies Shape;

export const deliveryKeysAnswerShape = {
  component: 'DeliveryByKeys',
  type: 'object',
  properties: { meta: metaShape, views: viewsShape },
  required: ['meta', 'views'],
} as const satisfies Shape;

const routesShape = {
  type: 'array',
  items: {
    component: 'Route',
    type: 'object',
    properties: {
      url: { type: 'string' },
      redirect: { type: ['string', 'null'], description: 'Target of a redirect URL; null for a page' },
      updatedAt: { type: 'string', format: 'date-time' },
    },
    required: ['url', 'redirect', 'updatedAt'],
  },
} as const satisfies Shape;

export const routesV1AnswerShape = {
  component: 'RoutesV1Page',
  type: 'object',
  properties: {
    total: { type: 'integer' },
    pageInfo: {
      type: 'object',
      properties: {
        hasNextPage: { type: 'boolean' },
        hasPreviousPage: { type: 'boolean' },
        startCursor: { type: ['string', 'null'], description: 'Null on an empty page' },
        endCursor: { type: ['string', 'null'], description: 'Null on an empty page' },
      },
      required: ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'],
    },
    results: routesShape,
  },
  required: ['total', 'pageInfo', 'results'],
} as const satisfies Shape;

export const routesV2AnswerShape = {
  component: 'RoutesV2Page',
  type: 'object',
  properties: {
    continuationToken: { type: ['string', 'null'], description: 'Null on the last page' },
    results: routesShape,
  },
  required: ['continuationToken', 'results'],
} as const satisfies Shape;

/** A message of JSON-RPC 2.0: a request, a response or a notification. */
const jsonRpcMessageShape = {
  component: 'JsonRpcMessage',
  type: 'object',
  properties: { jsonrpc: { type: 'string', enum: ['2.0'] }, id: { type: ['string', 'number', 'null'] } },
  required: ['jsonrpc'],
  additionalProperties: true,
} as const satisfies Shape;

export const mcpAnswerShape = {
  anyOf: [jsonRpcMessageShape, { type: 'array', items: jsonRpcMessageShape }],
} as const satisfies Shape;

export const mcpProblemShape = {
  anyOf: [jsonRpcMessageShape, plainProblemShape],
} as const satisfies Shape;

export const liveShape = {
  type: 'object',
  properties: {
    status: { type: 'integer' },
    version: { type: 'string', description: 'Version of the platform' },
  },
  required: ['status', 'version'],
} as const satisfies Shape;

const waitingFor = { type: 'array', items: { type: 'string' } } as const satisfies Shape;

export const notReadyShape = {
  component: 'NotReady',
  type: 'object',
  properties: {
    status: { type: 'integer', enum: [503] },
    waitingFor,
    code: { type: 'string' },
    requestId: { type: 'string' },
  },
  required: ['status', 'waitingFor', 'code', 'requestId'],
} as const satisfies Shape;

const wholeShape = {
  component: 'Readiness',
  type: 'object',
  properties: { status: { type: 'integer', enum: [200] }, waitingFor },
  required: ['status', 'waitingFor'],
} as const satisfies Shape;

export const readyShape = {
  anyOf: [
    wholeShape,
    {
      component: 'Degraded',
      type: 'object',
      properties: {
        status: { type: 'string', enum: ['degraded'] },
        degraded: { type: 'array', items: { type: 'string' }, description: 'What is wrong' },
      },
      required: ['status', 'degraded'],
    },
  ],
} as const satisfies Shape;

const texts = { type: 'array', items: { type: 'string' } } as const satisfies Shape;

const servedProperties = {
  urls: { ...texts, description: 'URLs of the page' },
  handles: texts,
  redirects: { ...texts, description: 'URLs that redirect to it' },
} as const satisfies Record<string, Shape>;

const changeShape = {
  component: 'Change',
  type: 'object',
  properties: {
    id: { type: 'string', description: 'View id' },
    alias: { type: 'string' },
    sourceGroup: { type: 'string' },
    originId: { type: 'string' },
    type: { type: 'string', description: 'Type of the entity' },
    action: { type: 'string', enum: ['set', 'removed'] },
    ...servedProperties,
    left: {
      type: 'object',
      properties: servedProperties,
      required: ['urls', 'handles', 'redirects'],
      description: 'What it was served under and no longer is',
    },
    tags: { ...texts, description: 'Cache tags of all responses that show it' },
    version: { type: 'string', description: 'For the Min-Version header' },
    at: { type: 'string', format: 'date-time' },
    shownOn: { ...texts, description: 'URLs, and handles, of views that refer to it, at any depth' },
    shownOnMore: { type: 'integer', description: 'Number of others; absent: none' },
  },
  required: [
    'id',
    'alias',
    'sourceGroup',
    'originId',
    'type',
    'action',
    'urls',
    'handles',
    'redirects',
    'left',
    'tags',
    'version',
    'at',
  ],
} as const satisfies Shape;

export const changesAnswerShape = {
  component: 'Changes',
  type: 'object',
  properties: {
    changes: { type: 'array', items: changeShape },
    offset: { type: 'string', description: 'For `since`' },
    upToDate: { type: 'boolean', description: 'There were no further changes' },
  },
  required: ['changes', 'offset', 'upToDate'],
} as const satisfies Shape;

export type ChangesAnswer = ValueOf<typeof changesAnswerShape>;
