/** The delivery interface (docs/reference/http.md "Delivery"). */
import { deliveryDepthMax, deliveryKeysMax, urlCodePointsMax } from '../../../contract/limits.ts';
import {
  deliveryAnswerShape,
  deliveryBodyShape,
  deliveryKeysAnswerShape,
} from '../../../contract/shapes-read.ts';
import { eventStreamType } from '../../answer.ts';
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
