/** Requests and responses of the delivery, routes, changes and operations interfaces (docs/reference/http.md). */
import { deliveryDepthMax, deliveryKeysMax } from './limits.ts';
import {
  anyBoolean,
  anyString,
  integer,
  list,
  object,
  type Shape,
  stringOrNull,
  strings,
  time,
  type ValueOf,
} from './shape.ts';
import { plainProblemShape } from './shapes-problems.ts';

const keyListShape = {
  type: ['array', 'null'],
  items: anyString,
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

const listedReferencesShape = list({
  ...object({ path: { ...anyString, examples: ['route.related[1].author'] }, viewId: anyString }),
  component: 'ListedReference',
});

export const metaShape = {
  ...object(
    {
      status: { type: 'integer', enum: [200, 301, 404] },
      redirect: { ...stringOrNull, description: 'URL to redirect to if status is 301' },
      missingViewReferences: listedReferencesShape,
      cutViewReferences: {
        ...listedReferencesShape,
        description: 'References deeper than `depth`; only if there is a depth',
      },
    },
    ['redirect', 'cutViewReferences'],
  ),
  component: 'DeliveryMeta',
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
  ...object({ meta: metaShape, route: { anyOf: [viewShape, { type: 'null' }] }, views: viewsShape }),
  component: 'Delivery',
} as const satisfies Shape;

export const deliveryKeysAnswerShape = {
  ...object({ meta: metaShape, views: viewsShape }),
  component: 'DeliveryByKeys',
} as const satisfies Shape;

const routesShape = list({
  ...object({
    url: anyString,
    redirect: { ...stringOrNull, description: 'Target of a redirect URL; null for a page' },
    updatedAt: time,
  }),
  component: 'Route',
});

export const routesV1AnswerShape = {
  ...object({
    total: integer,
    pageInfo: object({
      hasNextPage: anyBoolean,
      hasPreviousPage: anyBoolean,
      startCursor: { ...stringOrNull, description: 'Null on an empty page' },
      endCursor: { ...stringOrNull, description: 'Null on an empty page' },
    }),
    results: routesShape,
  }),
  component: 'RoutesV1Page',
} as const satisfies Shape;

export const routesV2AnswerShape = {
  ...object({
    continuationToken: { ...stringOrNull, description: 'Null on the last page' },
    results: routesShape,
  }),
  component: 'RoutesV2Page',
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

export const liveShape = object({
  status: integer,
  version: { ...anyString, description: 'Version of the platform' },
});

export const notReadyShape = {
  ...object({
    status: { type: 'integer', enum: [503] },
    waitingFor: strings,
    code: anyString,
    requestId: anyString,
  }),
  component: 'NotReady',
} as const satisfies Shape;

export const readyShape = {
  anyOf: [
    {
      ...object({ status: { type: 'integer', enum: [200] }, waitingFor: strings }),
      component: 'Readiness',
    },
    {
      ...object({
        status: { type: 'string', enum: ['degraded'] },
        degraded: { ...strings, description: 'What is wrong' },
      }),
      component: 'Degraded',
    },
  ],
} as const satisfies Shape;

const servedProperties = {
  urls: { ...strings, description: 'URLs of the page' },
  handles: strings,
  redirects: { ...strings, description: 'URLs that redirect to it' },
} as const satisfies Record<string, Shape>;

const changeShape = {
  ...object(
    {
      id: { ...anyString, description: 'View id' },
      alias: anyString,
      sourceGroup: anyString,
      originId: anyString,
      type: { ...anyString, description: 'Type of the entity' },
      action: { type: 'string', enum: ['set', 'removed'] },
      ...servedProperties,
      left: {
        ...object(servedProperties),
        description: 'What it was served under and no longer is',
      },
      tags: { ...strings, description: 'Cache tags of all responses that show it' },
      version: { ...anyString, description: 'For the Min-Version header' },
      at: time,
      shownOn: { ...strings, description: 'URLs, and handles, of views that refer to it, at any depth' },
      shownOnMore: { ...integer, description: 'Number of others; absent: none' },
    },
    ['shownOn', 'shownOnMore'],
  ),
  component: 'Change',
} as const satisfies Shape;

export const changesAnswerShape = {
  ...object({
    changes: list(changeShape),
    offset: { ...anyString, description: 'For `since`' },
    upToDate: { ...anyBoolean, description: 'There were no further changes' },
  }),
  component: 'Changes',
} as const satisfies Shape;

export type ChangesAnswer = ValueOf<typeof changesAnswerShape>;
