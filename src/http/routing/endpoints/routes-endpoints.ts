/** The routes interface (docs/reference/http.md "Listing routes"). */
import type { Json } from '../../../contract/json.ts';
import { routesPageMax, routesPageMin } from '../../../contract/limits.ts';
import { routesV1AnswerShape, routesV2AnswerShape } from '../../../contract/shapes-read.ts';
import { xmlType } from '../../answer.ts';
import { type Endpoints, inQuery, minVersion, plainHeader } from '../../route-definition.ts';

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
