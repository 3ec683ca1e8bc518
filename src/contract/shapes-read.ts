/** Requests and answers of the delivery, routes, changes and operations interfaces (docs/reference/http.md). */
import { deliveryDepthMax, deliveryKeysMax } from './limits.ts';
import type { Shape } from './shape.ts';

const keyListShape: Shape = {
  type: ['array', 'null'],
  items: { type: 'string' },
  maxItems: deliveryKeysMax,
};

export const deliveryBodyShape: Shape = {
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
};

const listedReferencesShape: Shape = {
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
};

const metaShape: Shape = {
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
};

/** What a schema makes of an entity: any JSON object. */
export const viewShape: Shape = {
  component: 'View',
  type: 'object',
  additionalProperties: true,
  description: 'As its schema defines',
};

const viewsShape: Shape = {
  type: 'object',
  additionalProperties: viewShape,
  description: 'View id or handle -> view',
};

export const deliveryAnswerShape: Shape = {
  component: 'Delivery',
  type: 'object',
  properties: { meta: metaShape, route: { anyOf: [viewShape, { type: 'null' }] }, views: viewsShape },
  required: ['meta', 'route', 'views'],
};

export const deliveryKeysAnswerShape: Shape = {
  component: 'DeliveryByKeys',
  type: 'object',
  properties: { meta: metaShape, views: viewsShape },
  required: ['meta', 'views'],
};

const routesShape: Shape = {
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
};

export const routesV1AnswerShape: Shape = {
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
};

export const routesV2AnswerShape: Shape = {
  component: 'RoutesV2Page',
  type: 'object',
  properties: {
    continuationToken: { type: ['string', 'null'], description: 'Null on the last page' },
    results: routesShape,
  },
  required: ['continuationToken', 'results'],
};

export const liveShape: Shape = {
  type: 'object',
  properties: {
    status: { type: 'integer' },
    version: { type: 'string', description: 'Version of the platform' },
  },
  required: ['status', 'version'],
};

const waitingFor: Shape = { type: 'array', items: { type: 'string' } };

export const notReadyShape: Shape = {
  component: 'NotReady',
  type: 'object',
  properties: {
    status: { type: 'integer', enum: [503] },
    waitingFor,
    code: { type: 'string' },
    requestId: { type: 'string' },
  },
  required: ['status', 'waitingFor', 'code', 'requestId'],
};

const wholeShape: Shape = {
  component: 'Readiness',
  type: 'object',
  properties: { status: { type: 'integer', enum: [200] }, waitingFor },
  required: ['status', 'waitingFor'],
};

export const readyShape: Shape = {
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
};

const texts: Shape = { type: 'array', items: { type: 'string' } };

const servedProperties = {
  urls: { ...texts, description: 'URLs of the page' },
  handles: texts,
  redirects: { ...texts, description: 'URLs that redirect to it' },
} as const;

const changeShape: Shape = {
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
};

export const changesAnswerShape: Shape = {
  component: 'Changes',
  type: 'object',
  properties: {
    changes: { type: 'array', items: changeShape },
    offset: { type: 'string', description: 'For `since`' },
    upToDate: { type: 'boolean', description: 'There were no further changes' },
  },
  required: ['changes', 'offset', 'upToDate'],
};
