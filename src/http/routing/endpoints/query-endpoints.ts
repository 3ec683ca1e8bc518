/**
 * The query interface (docs/reference/http.md "Queries"), and its counterpart for management keys (docs/reference/management.md
 * "Queries").
 */
import { entityTypeShape } from '../../../contract/shapes-ingest.ts';
import {
  autoQueryBodyShape,
  indexAnswersShape,
  indexQueriesShape,
  queryAnswerShape,
  queryBodyShape,
  sourceGroupAnswersShape,
  sourceGroupQueriesShape,
} from '../../../contract/shapes-query.ts';
import {
  type EndpointDefinition,
  type Endpoints,
  inPath,
  managedEnvironment,
  minVersion,
} from '../../route-definition.ts';

const queryAnswerExample = {
  status: 0,
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

export const queryEndpoints = {
  queryIndexes: {
    method: 'post',
    path: '/v1',
    alsoAt: ['/v1/'],
    tag: 'query',
    summary: 'Up to 5 queries over indexes',
    access: { kind: 'client', scope: 'query' },
    problems: 'multiQuery',
    parameters: [],
    headers: [minVersion],
    body: { shape: indexQueriesShape, example: [{ name: 'all', index: 'countries' }] },
    answers: {
      200: {
        description: 'At least one query is valid: the result of each, or its errors',
        shape: indexAnswersShape,
        example: [{ ...queryAnswerExample, index: 'countries', name: 'all' }],
      },
    },
    problemStatuses: [400, 401, 403, 408, 429, 500, 503],
  },
  querySources: {
    method: 'post',
    path: '/v1/source',
    tag: 'query',
    summary: 'Up to 5 queries over auto-indexed source groups',
    access: { kind: 'client', scope: 'source' },
    problems: 'multiQuery',
    parameters: [],
    headers: [minVersion],
    body: {
      shape: sourceGroupQueriesShape,
      example: [{ name: 'all', sourceGroupAlias: 'cms', sourceEntityType: 'country' }],
    },
    answers: {
      200: {
        description: 'At least one query is valid: the result of each, or its errors',
        shape: sourceGroupAnswersShape,
        example: [
          { ...queryAnswerExample, sourceGroupAlias: 'cms', sourceEntityType: 'country', name: 'all' },
        ],
      },
    },
    problemStatuses: [400, 401, 403, 408, 429, 500, 503],
  },
  querySourceGroup: {
    method: 'post',
    path: '/v1/sourceGroupAlias/{sourceGroupAlias}/type/{sourceEntityType}',
    tag: 'query',
    summary: 'Query the entities of an auto-indexed source group',
    access: { kind: 'client', scope: 'source' },
    problems: 'query',
    parameters: [
      inPath('sourceGroupAlias', 'Alias of the source group'),
      inPath('sourceEntityType', 'Entity type', { shape: entityTypeShape }),
    ],
    headers: [minVersion],
    body: { shape: autoQueryBodyShape, example: {} },
    answers: {
      200: { description: 'The result', shape: queryAnswerShape, example: queryAnswerExample },
    },
    problemStatuses: [400, 401, 403, 404, 408, 429, 500, 503],
  },
  queryIndex: {
    method: 'post',
    path: '/v1/{indexAlias}',
    tag: 'query',
    summary: 'Query the items of an index',
    access: { kind: 'client', scope: 'query' },
    problems: 'query',
    parameters: [inPath('indexAlias', 'Alias of the index')],
    headers: [minVersion],
    body: {
      shape: queryBodyShape,
      example: { filters: { and: [{ field: 'continent', operator: 'equals', value: 'Europe' }] } },
    },
    answers: {
      200: { description: 'The result', shape: queryAnswerShape, example: queryAnswerExample },
    },
    problemStatuses: [400, 401, 403, 404, 408, 429, 500, 503],
  },
} satisfies Endpoints;

export const managementQueryEndpoint: EndpointDefinition = {
  method: 'post',
  path: '/management/v1/query',
  tag: 'management',
  summary: 'Query any index of the environment',
  access: { kind: 'management', scope: 'read' },
  problems: 'management',
  parameters: [managedEnvironment],
  headers: [],
  body: {
    shape: autoQueryBodyShape,
    description: 'A query object with an additional `index`, or `sourceGroupAlias` and `sourceEntityType`',
    example: { index: 'countries', search: { field: 'name', value: 'France' } },
  },
  answers: { 200: { description: 'As for POST /v1/{indexAlias}', shape: queryAnswerShape } },
  problemStatuses: [400, 401, 403, 404, 408, 422, 429, 500, 503],
};
