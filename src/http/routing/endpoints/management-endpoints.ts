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
  webhookAnswerShape,
  webhookReplayShape,
  webhooksAnswerShape,
  webhookTestShape,
} from '../../../contract/shapes-management.ts';
import {
  type Endpoints,
  inPath,
  inQuery,
  managedEnvironment,
  type ParameterDefinition,
  plainHeader,
} from '../../route-definition.ts';

/** Parameters of all lists. */
const paging: readonly ParameterDefinition[] = [
  inQuery('first', 'Page size', {
    shape: { type: 'integer', minimum: 1, maximum: managementPageMax, default: managementPageDefault },
  }),
  inQuery('after', '`next` of the previous page'),
];

export const problemStatuses = [401, 403, 404, 422, 429, 500, 503];

/** Shared by all read-only endpoints. */
export const reading = {
  method: 'get',
  tag: 'management',
  access: { kind: 'management', scope: 'read' },
  problems: 'management',
  headers: [],
  problemStatuses,
} as const;

export const managementEndpoints = {
  managementStatus: {
    ...reading,
    path: '/management/v1/status',
    summary: 'State of the platform: processes, partitions, rebuilds, indexes, Redis',
    parameters: [],
    answers: { 200: { description: 'The current state', shape: statusAnswerShape } },
  },
  managementTenant: {
    ...reading,
    path: '/management/v1/tenant',
    summary: 'Contents of the tenant, with counts',
    parameters: [],
    answers: { 200: { description: 'Without keys', shape: tenantAnswerShape } },
  },
  managementEntities: {
    ...reading,
    path: '/management/v1/entities',
    summary: 'Entities of a source group, in the order of their originIds',
    parameters: [
      inQuery('sourceGroup', 'Alias', { required: true }),
      managedEnvironment,
      inQuery('type', 'Only entities of this type'),
      inQuery(
        'state',
        'Only entities in this state. A page can then have fewer than `first`, although it is not the last',
        { shape: { type: 'string', enum: [...publishStates] } },
      ),
      inQuery('originId', 'Only this entity: an empty list if there is none'),
      inQuery('details', 'With `name`, `publishAt`, `unpublishAt` and `state`', {
        shape: { type: 'boolean', default: false },
      }),
      ...paging,
      inQuery('before', 'First originId of a page: returns the page before it. Not with `after`'),
    ],
    answers: { 200: { description: 'A page', shape: entitiesAnswerShape } },
  },
  managementSchedule: {
    ...reading,
    path: '/management/v1/schedule',
    summary: 'What is scheduled to be published or unpublished, earliest first',
    parameters: paging,
    answers: { 200: { description: 'A page', shape: scheduleAnswerShape } },
  },
  managementEntity: {
    ...reading,
    path: '/management/v1/entities/{sourceGroup}/{originId}',
    summary: 'A stored entity, and its views and items',
    parameters: [inPath('sourceGroup', 'Alias'), inPath('originId', 'Percent-encoded'), managedEnvironment],
    answers: { 200: { description: 'The entity', shape: entityAnswerShape } },
  },
  explainView: {
    ...reading,
    path: '/management/v1/explain/view',
    summary: 'Explain a view',
    parameters: [inQuery('id', 'Id of the view', { required: true })],
    answers: {
      200: {
        description: 'Its sources, the views that show it, and why it was last built',
        shape: explainViewAnswerShape,
      },
    },
  },
  explainUrl: {
    ...reading,
    path: '/management/v1/explain/url',
    summary: 'Explain the response to a URL',
    parameters: [
      managedEnvironment,
      inQuery(
        'client',
        'Name of the environment client whose domains apply; by default the first of the environment',
      ),
      inQuery('url', 'As for delivery', {
        shape: { type: 'string', maxLength: urlCodePointsMax },
        required: true,
      }),
    ],
    answers: {
      200: { description: 'The steps from the host to the response', shape: explainUrlAnswerShape },
    },
  },
  getConfiguration: {
    ...reading,
    path: '/management/v1/configuration',
    summary: 'The documents of the tenant, API keys as digests',
    parameters: [],
    answers: { 200: { description: 'The active documents', shape: configurationAnswerShape } },
  },
  putConfiguration: {
    ...reading,
    method: 'put',
    path: '/management/v1/configuration',
    summary: 'Activate documents as the configuration of the tenant, or show what that would change',
    access: { kind: 'management', scope: 'configure' },
    parameters: [
      inQuery('expected', 'Digest of the documents that these replace; 409 if others are active'),
      inQuery(
        'removals',
        'Allows removing parts of the configuration that have data; otherwise 409 with the plan',
        { shape: { type: 'boolean', default: false } },
      ),
      inQuery('dryRun', 'Nothing is activated: the job reports what would change', {
        shape: { type: 'boolean', default: false },
      }),
    ],
    body: {
      shape: configurationBodyShape,
      description: 'All documents of the tenant',
      example: { documents: { 'tenant.json': '{}' } },
    },
    answers: {
      200: {
        description: 'They are active, and the job rebuilds what changed',
        shape: appliedAnswerShape,
      },
    },
    problemStatuses: [401, 403, 408, 409, 413, 422, 429, 500, 503],
  },
  managementPreview: {
    ...reading,
    method: 'post',
    path: '/management/v1/preview',
    summary: 'Show what a schema makes of an entity; neither has to be stored, and nothing is stored',
    parameters: [],
    body: {
      shape: previewBodyShape,
      description: 'A schema and an entity',
      example: { schema: 'page', originId: 'home', sourceGroup: 'cms' },
    },
    answers: {
      200: { description: 'The view or the item, and its sources', shape: previewAnswerShape },
    },
    problemStatuses: [401, 403, 404, 408, 413, 422, 429, 500, 503],
  },
  managementJob: {
    ...reading,
    path: '/management/v1/jobs/{id}',
    summary: 'Progress of a job',
    parameters: [inPath('id', 'From the response of a PUT')],
    answers: { 200: { description: 'The current state', shape: jobAnswerShape } },
  },
  managementDiagnostics: {
    ...reading,
    path: '/management/v1/diagnostics',
    summary: 'What is valid but probably a mistake',
    parameters: paging,
    answers: { 200: { description: 'Findings for the next entities', shape: diagnosticsAnswerShape } },
  },
} satisfies Endpoints;

/** Shared by the endpoints that test, replay or enable a webhook. */
const webhook = {
  ...reading,
  method: 'post',
  access: { kind: 'management', scope: 'operate' },
  parameters: [inPath('alias', 'Alias of the webhook')],
} as const;

/** The webhooks of a tenant (docs/reference/webhooks.md). */
export const webhookEndpoints = {
  managementWebhooks: {
    ...reading,
    path: '/management/v1/webhooks',
    summary: 'State of the webhooks of the tenant',
    parameters: [],
    answers: { 200: { description: 'All of them', shape: webhooksAnswerShape } },
  },
  testWebhook: {
    ...webhook,
    path: '/management/v1/webhooks/{alias}/test',
    summary: 'Send one test request without changes',
    headers: [plainHeader('traceparent', 'W3C Trace Context, passed on to the receiver')],
    answers: { 200: { description: 'The response of the receiver', shape: webhookTestShape } },
    problemStatuses: [...problemStatuses, 409, 502],
  },
  replayWebhook: {
    ...webhook,
    path: '/management/v1/webhooks/{alias}/replay',
    summary: 'Move the cursor of a webhook: the changes after it are sent',
    body: { shape: webhookReplayShape, example: { since: 'beginning' } },
    answers: { 200: { description: 'Its state', shape: webhookAnswerShape } },
    problemStatuses: [...problemStatuses, 408, 410, 413],
  },
  enableWebhook: {
    ...webhook,
    path: '/management/v1/webhooks/{alias}/enable',
    summary: 'Resume a disabled webhook where it was',
    answers: { 200: { description: 'Its state', shape: webhookAnswerShape } },
  },
} satisfies Endpoints;
