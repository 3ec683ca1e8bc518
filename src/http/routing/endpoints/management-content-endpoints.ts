/** What a management key may ask of the delivered content itself (docs/reference/management.md "Queries", "Changes"). */
import { autoQueryBodyShape, queryAnswerShape } from '../../../contract/shapes-query.ts';
import { minVersion, type ParameterDefinition, type RouteDefinition } from '../route-definition.ts';
import { changesEndpoint } from './changes-endpoints.ts';

const environment: ParameterDefinition = {
  name: 'environment',
  in: 'query',
  shape: { type: 'string' },
  description: 'Alias or id; optional if the tenant has only one',
};

const common = {
  tag: 'management',
  access: { kind: 'management', scope: 'read' },
  problems: 'management',
} as const;

export const managementContentEndpoints: readonly RouteDefinition[] = [
  {
    ...common,
    name: 'managementQuery',
    method: 'post',
    path: '/management/v1/query',
    summary: 'Query any index of the environment',
    parameters: [environment],
    headers: [],
    body: {
      shape: autoQueryBodyShape,
      description: 'A query object with an additional `index`, or `sourceGroupAlias` and `sourceEntityType`',
      example: { index: 'countries', search: { field: 'name', value: 'France' } },
    },
    answers: { 200: { description: 'As for POST /v1/{indexAlias}', shape: queryAnswerShape } },
    problemStatuses: [400, 401, 403, 404, 408, 422, 429, 500, 503],
  },
  {
    ...common,
    name: 'managementChanges',
    method: 'get',
    path: '/management/v1/changes',
    summary: 'Follow the changes of an environment',
    parameters: [environment, ...changesEndpoint.parameters],
    headers: [minVersion, ...changesEndpoint.headers.filter(({ prefixed }) => !prefixed)],
    answers: { 200: { ...changesEndpoint.answers[200], description: 'As for GET /changes/v1' } },
    problemStatuses: [401, 403, 404, 410, 422, 429, 500, 503],
  },
];
