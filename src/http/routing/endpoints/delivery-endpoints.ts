/** The delivery interface (docs/reference/http.md "Delivery"). */

import type { Json } from '../../../contract/json.ts';
import {
  deliveryDepthMax,
  deliveryKeysMax,
  routesPageMax,
  routesPageMin,
  urlCodePointsMax,
} from '../../../contract/limits.ts';
import {
  deliveryAnswerShape,
  deliveryBodyShape,
  deliveryKeysAnswerShape,
  routesV1AnswerShape,
  routesV2AnswerShape,
} from '../../../contract/shapes-read.ts';
import { eventStreamType, xmlType } from '../../answer.ts';
import {
  type AnswerDefinition,
  type Endpoints,
  type HeaderDefinition,
  inQuery,
  minVersion,
  type ParameterDefinition,
  plainHeader,
} from '../../route-definition.ts';

const etag = plainHeader('ETag', 'For If-None-Match');
const answerHeaders: readonly HeaderDefinition[] = [
  etag,
  plainHeader(
    'Cache-Control',
    'The `cacheControl` of the client, otherwise `private, no-cache`; `no-store` if `meta.status` is 404. ' +
      'A client with `cacheTags` gets the cache tags in the header that it names.',
  ),
];

const includeDuplicateViews = inQuery(
  'includeDuplicateViews',
  'A view requested by several keys is returned under each of them instead of only the first',
  { shape: { type: 'boolean', default: false } },
);
const queryParameters: readonly ParameterDefinition[] = [
  inQuery('url', 'At most one', { shape: { type: 'string', maxLength: urlCodePointsMax } }),
  inQuery('id', 'A view id; can be repeated', { shape: { type: 'array', items: { type: 'string' } } }),
  inQuery('handle', 'A handle; can be repeated, each handle once', {
    shape: { type: 'array', items: { type: 'string' }, uniqueItems: true },
  }),
  includeDuplicateViews,
  inQuery(
    'depth',
    "References deeper than this are null and listed in `meta`; absent: the client's `depth`",
    { shape: { type: 'integer', minimum: 0, maximum: deliveryDepthMax } },
  ),
];
const deliveryHeaders: readonly HeaderDefinition[] = [
  minVersion,
  plainHeader('If-None-Match', 'An ETag: 304 if nothing changed'),
  plainHeader('Accept-Encoding', 'br or gzip, used for bodies over 1 KiB'),
];
const notModified: AnswerDefinition = {
  description: 'The response still has that ETag',
  headers: answerHeaders,
};

/** Shared by the endpoints that take a URL. */
const byQuery = {
  method: 'get',
  tag: 'delivery',
  access: { kind: 'client', scope: 'delivery' },
  problems: 'delivery',
  parameters: queryParameters,
  headers: deliveryHeaders,
  problemStatuses: [401, 403, 422, 429, 500, 503],
} as const;
const pageAnswer: AnswerDefinition = {
  description: '`meta.status` is 200, 301 (redirect) or 404 (no view has the url)',
  shape: deliveryAnswerShape,
  headers: answerHeaders,
};

export const deliveryEndpoints = {
  deliver: {
    path: '/v2',
    summary: 'Get content by URL, ids or handles',
    ...byQuery,
    headers: [
      ...deliveryHeaders,
      plainHeader('Accept', '`text/event-stream`: events `answer`, immediately and whenever it changes'),
    ],
    answers: {
      200: {
        ...pageAnswer,
        alsoAs: [eventStreamType],
        example: {
          meta: { status: 200, redirect: null, missingViewReferences: [] },
          route: { title: 'France' },
          views: {},
        },
      },
      304: notModified,
    },
  },
  deliverKeys: {
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
        description: 'The views that exist',
        shape: deliveryKeysAnswerShape,
        example: {
          meta: { status: 200, redirect: null, missingViewReferences: [] },
          views: { continents: { title: 'Continents' } },
        },
        headers: answerHeaders,
      },
      304: notModified,
    },
    problemStatuses: [401, 403, 408, 422, 429, 500, 503],
  },
  deliverV1: {
    path: '/v1',
    alsoAt: ['/v1/'],
    summary: 'Get content as GET /v2 does, each reference wrapped in an object with its id',
    ...byQuery,
    answers: {
      200: {
        ...pageAnswer,
        example: {
          meta: { status: 200, redirect: null, missingViewReferences: [] },
          route: {
            title: 'France',
            continent: {
              id: 'gid://Environment/7c9e/Source/32eb/Entity/continent-eu/View/card',
              view: { title: 'Europe' },
              type: 'ViewReference',
            },
          },
          views: {},
        },
      },
      304: notModified,
    },
  },
} satisfies Endpoints;

const routeExample: Json = { url: '/europe/france', redirect: null, updatedAt: '2024-05-01T12:00:00.000Z' };
export const routesEndpoints = {
  listRoutesV1: {
    method: 'get',
    path: '/routes/v1',
    tag: 'routes',
    summary: 'List the routes of the environment, paged by cursors',
    access: { kind: 'client', scope: 'routes' },
    problems: 'plain',
    parameters: [
      inQuery('first', 'Page size, ascending by URL; send either first or last', {
        shape: { type: 'integer', minimum: routesPageMin, maximum: routesPageMax },
      }),
      inQuery('last', 'Page size, descending by URL; send either first or last', {
        shape: { type: 'integer', minimum: routesPageMin, maximum: routesPageMax },
      }),
      inQuery('after', 'endCursor of a page: the page after it'),
      inQuery('before', 'startCursor of a page: the page before it'),
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
    problemStatuses: [401, 403, 422, 429, 500, 503],
  },
  listRoutesV2: {
    method: 'get',
    path: '/routes/v2',
    tag: 'routes',
    summary: 'List all routes of the environment, 500 per page',
    access: { kind: 'client', scope: 'routes' },
    problems: 'plain',
    parameters: [
      inQuery('continuationToken', 'continuationToken of the previous page'),
      inQuery(
        'format',
        '`sitemap`: the response is the XML of a sitemap, or of a sitemap index beyond 50,000 URLs',
        { shape: { type: 'string', enum: ['json', 'sitemap'], default: 'json' } },
      ),
      inQuery(
        'base',
        'Origin of the relative routes of a sitemap, which then has no pages of other hosts; absent: https:// and the first hostname that a domain of the client names, or the Host header',
      ),
    ],
    headers: [
      minVersion,
      plainHeader('X-Continuation-Token', 'Same as the query parameter continuationToken'),
      plainHeader('Host', 'Host of a sitemap if neither base nor a domain names one'),
    ],
    answers: {
      200: {
        description: 'A page of routes; with format=sitemap XML',
        shape: routesV2AnswerShape,
        alsoAs: [xmlType],
        example: { continuationToken: null, results: [routeExample] },
      },
    },
    problemStatuses: [401, 403, 422, 429, 500, 503],
  },
} satisfies Endpoints;
