/** The routes interface (docs/reference/http.md "Listing routes"). */
import type { Json } from '../../../contract/json.ts';
import { routesPageMax, routesPageMin } from '../../../contract/limits.ts';
import { routesV1AnswerShape, routesV2AnswerShape } from '../../../contract/shapes-read.ts';
import { minVersion, type RouteDefinition } from '../../route-definition.ts';

const routeExample: Json = { url: '/europe/france', redirect: null, updatedAt: '2024-05-01T12:00:00.000Z' };
export const routesEndpoints: readonly RouteDefinition[] = [
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
        description: 'Page size, ascending by URL; send either first or last',
      },
      {
        name: 'last',
        in: 'query',
        shape: { type: 'integer', minimum: routesPageMin, maximum: routesPageMax },
        description: 'Page size, descending by URL; send either first or last',
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
    problemStatuses: [401, 403, 422, 429, 500, 503],
  },
  {
    name: 'listRoutesV2',
    method: 'get',
    path: '/routes/v2',
    tag: 'routes',
    summary: 'List all routes of the environment, 500 per page',
    access: { kind: 'client', scope: 'routes' },
    problems: 'plain',
    parameters: [
      {
        name: 'continuationToken',
        in: 'query',
        shape: { type: 'string' },
        description: 'continuationToken of the previous page',
      },
      {
        name: 'format',
        in: 'query',
        shape: { type: 'string', enum: ['json', 'sitemap'], default: 'json' },
        description:
          '`sitemap`: the response is the XML of a sitemap, or of a sitemap index beyond 50,000 URLs',
      },
      {
        name: 'base',
        in: 'query',
        shape: { type: 'string' },
        description:
          'Origin of the relative routes of a sitemap, which then has no pages of other hosts; absent: https:// and the first hostname that a domain of the client names, or the Host header',
      },
    ],
    headers: [
      minVersion,
      {
        name: 'X-Continuation-Token',
        prefixed: false,
        description: 'Same as the query parameter continuationToken',
      },
      {
        name: 'Host',
        prefixed: false,
        description: 'Host of a sitemap if neither base nor a domain names one',
      },
    ],
    answers: {
      200: {
        description: 'A page of routes; with format=sitemap XML (application/xml)',
        shape: routesV2AnswerShape,
        example: { continuationToken: null, results: [routeExample] },
      },
    },
    problemStatuses: [401, 403, 422, 429, 500, 503],
  },
];
