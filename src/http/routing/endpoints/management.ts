/** The management interface (docs/reference/management.md). */
import { managementPageDefault, managementPageMax, urlCodePointsMax } from '../../../contract/limits.ts';
import { publishStates } from '../../../contract/publish-times.ts';
import {
  appliedAnswerShape,
  configurationAnswerShape,
  configurationBodyShape,
  diagnosticsAnswerShape,
  entitiesAnswerShape,
  entityAnswerShape,
  explainUrlAnswerShape,
  explainViewAnswerShape,
  jobAnswerShape,
  previewAnswerShape,
  previewBodyShape,
  scheduleAnswerShape,
  statusAnswerShape,
  tenantAnswerShape,
} from '../../../contract/shapes-management.ts';
import type { ParameterDefinition, RouteDefinition } from '../route-definition.ts';

const environment: ParameterDefinition = {
  name: 'environment',
  in: 'query',
  shape: { type: 'string' },
  description: 'Alias or id; may be left out where the tenant has one',
};

/** Of every list. */
const paging: readonly ParameterDefinition[] = [
  {
    name: 'first',
    in: 'query',
    shape: { type: 'integer', minimum: 1, maximum: managementPageMax, default: managementPageDefault },
    description: 'Length of the page',
  },
  { name: 'after', in: 'query', shape: { type: 'string' }, description: '`next` of the page before' },
];

export const problemStatuses = [401, 403, 404, 422, 429, 500, 503];

/** What every endpoint that only looks has in common. */
export const reading = {
  method: 'get',
  tag: 'management',
  access: { kind: 'management', scope: 'read' },
  problems: 'management',
  headers: [],
  problemStatuses,
} as const;

export const managementEndpoints: readonly RouteDefinition[] = [
  {
    ...reading,
    name: 'managementStatus',
    path: '/management/v1/status',
    summary: 'How the platform is: processes, partitions, rebuilds, indexes, Redis',
    parameters: [],
    answers: { 200: { description: 'As it is now', shape: statusAnswerShape } },
  },
  {
    ...reading,
    name: 'managementTenant',
    path: '/management/v1/tenant',
    summary: 'What the tenant has, and how much of it',
    parameters: [],
    answers: { 200: { description: 'Without keys', shape: tenantAnswerShape } },
  },
  {
    ...reading,
    name: 'managementEntities',
    path: '/management/v1/entities',
    summary: 'Entities of a source group, in the order of their originIds',
    parameters: [
      { name: 'sourceGroup', in: 'query', required: true, shape: { type: 'string' }, description: 'Alias' },
      environment,
      { name: 'type', in: 'query', shape: { type: 'string' }, description: 'Only entities of this type' },
      {
        name: 'state',
        in: 'query',
        shape: { type: 'string', enum: [...publishStates] },
        description:
          'Only entities that are so now. A page may then have fewer than `first`, though it is not the last',
      },
      ...paging,
    ],
    answers: { 200: { description: 'A page', shape: entitiesAnswerShape } },
  },
  {
    ...reading,
    name: 'managementSchedule',
    path: '/management/v1/schedule',
    summary: 'What is published and taken back, the next moment first',
    parameters: paging,
    answers: { 200: { description: 'A page', shape: scheduleAnswerShape } },
  },
  {
    ...reading,
    name: 'managementEntity',
    path: '/management/v1/entities/{sourceGroup}/{originId}',
    summary: 'An entity as it is stored, and what is made of it',
    parameters: [
      {
        name: 'sourceGroup',
        in: 'path',
        required: true,
        shape: { type: 'string' },
        description: 'Alias',
      },
      {
        name: 'originId',
        in: 'path',
        required: true,
        shape: { type: 'string' },
        description: 'Percent-encoded',
      },
      environment,
    ],
    answers: { 200: { description: 'The entity', shape: entityAnswerShape } },
  },
  {
    ...reading,
    name: 'explainView',
    path: '/management/v1/explain/view',
    summary: 'Why a view is as it is',
    parameters: [
      { name: 'id', in: 'query', required: true, shape: { type: 'string' }, description: 'Of the view' },
    ],
    answers: {
      200: {
        description: 'What it was made of, who shows it, why it was last built',
        shape: explainViewAnswerShape,
      },
    },
  },
  {
    ...reading,
    name: 'explainUrl',
    path: '/management/v1/explain/url',
    summary: 'Why a URL is answered as it is',
    parameters: [
      environment,
      {
        name: 'client',
        in: 'query',
        shape: { type: 'string' },
        description:
          'Name of an environment client, whose domains decide; the first of the environment unless said',
      },
      {
        name: 'url',
        in: 'query',
        required: true,
        shape: { type: 'string', maxLength: urlCodePointsMax },
        description: 'As delivery takes it',
      },
    ],
    answers: { 200: { description: 'From the host to the answer', shape: explainUrlAnswerShape } },
  },
  {
    ...reading,
    name: 'getConfiguration',
    path: '/management/v1/configuration',
    summary: 'The documents of the tenant, API keys as digests',
    parameters: [],
    answers: { 200: { description: 'As they are active', shape: configurationAnswerShape } },
  },
  {
    ...reading,
    method: 'put',
    name: 'putConfiguration',
    path: '/management/v1/configuration',
    summary: 'Make documents the active configuration of the tenant, or ask what that would change',
    access: { kind: 'management', scope: 'configure' },
    parameters: [
      {
        name: 'expected',
        in: 'query',
        shape: { type: 'string' },
        description: 'Digest of the documents that these replace; others: 409',
      },
      {
        name: 'removals',
        in: 'query',
        shape: { type: 'boolean', default: false },
        description: 'What has data may be removed; otherwise 409 with the plan',
      },
      {
        name: 'dryRun',
        in: 'query',
        shape: { type: 'boolean', default: false },
        description: 'Nothing becomes active: the job tells what would change',
      },
    ],
    body: {
      shape: configurationBodyShape,
      description: 'All documents of the tenant',
      example: { documents: { 'tenant.json': '{}' } },
    },
    answers: {
      200: {
        description: 'They are active, and the job rebuilds what they change',
        shape: appliedAnswerShape,
      },
    },
    problemStatuses: [401, 403, 408, 409, 413, 422, 429, 500, 503],
  },
  {
    ...reading,
    method: 'post',
    name: 'managementPreview',
    path: '/management/v1/preview',
    summary: 'What a schema makes of an entity; both need not be stored, and nothing is',
    parameters: [],
    body: {
      shape: previewBodyShape,
      description: 'A schema and an entity',
      example: { schema: 'page', originId: 'home', sourceGroup: 'cms' },
    },
    answers: {
      200: { description: 'The view or the item, and what it rests on', shape: previewAnswerShape },
    },
    problemStatuses: [401, 403, 404, 408, 413, 422, 429, 500, 503],
  },
  {
    ...reading,
    name: 'managementJob',
    path: '/management/v1/jobs/{id}',
    summary: 'How far a job is',
    parameters: [
      { name: 'id', in: 'path', required: true, shape: { type: 'string' }, description: 'As a PUT gave it' },
    ],
    answers: { 200: { description: 'As it is now', shape: jobAnswerShape } },
  },
  {
    ...reading,
    name: 'managementDiagnostics',
    path: '/management/v1/diagnostics',
    summary: 'What is valid but probably not meant so',
    parameters: paging,
    answers: { 200: { description: 'Findings of the next entities', shape: diagnosticsAnswerShape } },
  },
];
