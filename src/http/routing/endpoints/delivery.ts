/** The delivery interface (docs/reference/http.md "Delivery"). */
import { deliveryKeysMax, urlCharactersMax } from '../../../contract/limits.ts';
import {
  deliveryAnswerShape,
  deliveryBodyShape,
  deliveryKeysAnswerShape,
} from '../../../contract/shapes-read.ts';
import {
  type AnswerDefinition,
  type HeaderDefinition,
  minVersion,
  type ParameterDefinition,
  type RouteDefinition,
} from '../route-definition.ts';

const etag: HeaderDefinition = { name: 'ETag', prefixed: false, description: 'For If-None-Match' };

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

export const deliveryEndpoints: readonly RouteDefinition[] = [
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
    problemStatuses: [401, 403, 422, 429, 500, 503],
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
    problemStatuses: [401, 403, 408, 422, 429, 500, 503],
  },
];
