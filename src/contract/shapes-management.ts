/** Responses of the management interface (docs/reference/management.md). */
import { configNameCharactersMax } from './limits.ts';
import { publishStates } from './publish-times.ts';
import {
  anyBoolean,
  anyString,
  count,
  countOrNull,
  list,
  object,
  type Shape,
  stringOrNull,
  strings,
  time,
  timeOrNull,
  type ValueOf,
} from './shape.ts';

const rates = object({
  ingest: { type: 'number' },
  delivery: { type: 'number' },
  query: { type: 'number' },
});

export type StatusAnswer = ValueOf<typeof statusAnswerShape>;

export const statusAnswerShape = {
  ...object({
    version: { ...anyString, description: 'Version of the platform that this front runs' },
    processes: list(
      object(
        {
          id: anyString,
          role: { type: 'string', enum: ['web', 'worker', 'jobs'] },
          host: anyString,
          pid: { ...count, description: 'With `--small` all roles are one process, with one pid' },
          version: { ...stringOrNull, description: 'Version of the platform that it runs; null before 1.0' },
          generation: { ...count, description: 'Configuration generation that it uses' },
          partitions: list(count),
          waitingFor: { ...strings, description: 'Empty when it is ready' },
          requestsPerSecond: { type: 'number', description: 'For a front' },
          rates: {
            ...rates,
            description: 'For a front: requests per second; routes count as delivery',
          },
          shardCopies: {
            ...object({
              group: { ...anyString, description: 'The partitions that it holds: `0/2` is the first half' },
              ready: { ...strings, description: 'The groups for which it can answer queries' },
            }),
            description: 'For a worker with shard copies',
          },
        },
        ['requestsPerSecond', 'rates', 'shardCopies'],
      ),
    ),
    partitions: list(
      object({
        partition: count,
        owner: { ...stringOrNull, description: 'Id of a worker' },
        backlog: { ...count, description: 'Waiting stream entries' },
        lagMs: { ...count, description: 'Age of the oldest waiting entry' },
      }),
    ),
    rebuilds: list(object({ what: anyString, done: count, total: count, etaSeconds: countOrNull })),
    indexes: list(object({ index: anyString, environment: anyString, items: count })),
    redis: object({
      usedBytes: count,
      maxBytes: { ...countOrNull, description: 'Null: no limit' },
    }),
    recent: {
      ...object({ everyMs: count, rates: list(rates) }),
      description:
        'Requests per second of all fronts in the last five minutes, oldest first, as received by this front',
    },
  }),
  component: 'Status',
} as const satisfies Shape;

export type EntityAnswer = ValueOf<typeof entityAnswerShape>;

export const entityAnswerShape = {
  ...object({
    entity: object({
      originId: anyString,
      id: anyString,
      sourceGroup: anyString,
      type: anyString,
      url: stringOrNull,
      originParentId: stringOrNull,
      redirects: strings,
      properties: { type: 'object', additionalProperties: true },
    }),
    publishAt: timeOrNull,
    unpublishAt: timeOrNull,
    state: { type: 'string', enum: [...publishStates], description: 'Current state according to its time' },
    createdAt: time,
    updatedAt: time,
    version: { ...anyString, description: 'For X-Service-Min-Version: a read with it shows this state' },
    made: list(
      object({
        environment: anyString,
        views: list(object({ id: anyString, alias: anyString, urls: strings, handles: strings })),
        items: list(object({ index: anyString })),
      }),
    ),
  }),
  component: 'ManagedEntity',
} as const satisfies Shape;

export type ExplainUrlAnswer = ValueOf<typeof explainUrlAnswerShape>;

export const explainUrlAnswerShape = {
  ...object({
    steps: list(object({ step: anyString, result: anyString })),
    claims: list(
      object({
        viewId: anyString,
        url: anyString,
        kind: { type: 'string', enum: ['page', 'redirect'] },
        since: time,
        served: anyBoolean,
        because: anyString,
      }),
    ),
    answer: { type: 'integer', enum: [200, 301, 404] },
  }),
  component: 'ExplainedUrl',
} as const satisfies Shape;

const documentsShape = {
  type: 'object',
  additionalProperties: anyString,
  description: 'Path in the folder of the tenant -> text: `tenant.json`, `schemas/page.json`',
} as const satisfies Shape;

export type ConfigurationAnswer = ValueOf<typeof configurationAnswerShape>;

export const configurationAnswerShape = {
  ...object({
    digest: anyString,
    appliedAt: { type: ['string', 'null'], format: 'date-time' },
    documents: documentsShape,
  }),
  component: 'TenantConfiguration',
} as const satisfies Shape;

export const configurationBodyShape = object({ documents: documentsShape });

export type AppliedAnswer = ValueOf<typeof appliedAnswerShape>;

export const appliedAnswerShape = {
  ...object({ digest: anyString, job: { ...anyString, description: 'For GET /management/v1/jobs/{id}' } }),
  component: 'AppliedConfiguration',
} as const satisfies Shape;

const changesShape = object({ added: count, changed: count, removed: count, same: count });

const diffShape = {
  ...object({
    views: changesShape,
    routes: changesShape,
    handles: changesShape,
    items: changesShape,
    samples: object({
      added: list(object({ id: anyString, after: {} })),
      changed: list(object({ id: anyString, before: {}, after: {} })),
      removed: list(object({ id: anyString, before: {} })),
    }),
  }),
  description: 'For a completed dry run',
  component: 'ConfigurationDiff',
} as const satisfies Shape;

export type JobAnswer = ValueOf<typeof jobAnswerShape>;

export const jobAnswerShape = {
  ...object(
    {
      state: { type: 'string', enum: ['waiting', 'active', 'completed', 'failed'] },
      done: count,
      total: count,
      diff: diffShape,
      failure: { ...anyString, description: 'Why a dry run failed' },
    },
    ['diff', 'failure'],
  ),
  component: 'Job',
} as const satisfies Shape;

export type TenantAnswer = ValueOf<typeof tenantAnswerShape>;

export const tenantAnswerShape = {
  ...object({
    alias: anyString,
    environments: list(object({ id: anyString, alias: anyString })),
    sourceGroups: list(
      object({
        alias: anyString,
        autoIndex: anyBoolean,
        sources: list(object({ id: anyString, name: anyString, environments: strings })),
        types: list(object({ type: anyString, entities: count })),
      }),
    ),
    domains: list(object({ alias: anyString, hostnames: strings })),
    schemas: list(
      object({
        alias: anyString,
        kind: { type: 'string', enum: ['full', 'partial', 'index'] },
        language: { type: 'string', enum: ['json', 'js', 'ts'] },
        triggers: {
          type: 'object',
          additionalProperties: strings,
          description: 'Source group -> entity types',
        },
        views: { ...count, description: 'Total of all environments' },
      }),
    ),
    indexes: list(object({ alias: anyString, items: count })),
    clients: list(object({ name: anyString, environment: anyString, domains: strings, scopes: strings })),
  }),
  component: 'ManagedTenant',
} as const satisfies Shape;

export type EntitiesAnswer = ValueOf<typeof entitiesAnswerShape>;

export const entitiesAnswerShape = {
  ...object(
    {
      entities: list(
        object(
          {
            originId: anyString,
            type: anyString,
            url: stringOrNull,
            updatedAt: time,
            name: { ...stringOrNull, description: 'With `details`: the title of one of its views' },
            publishAt: { ...timeOrNull, description: 'With `details`' },
            unpublishAt: { ...timeOrNull, description: 'With `details`' },
            state: { type: 'string', enum: [...publishStates], description: 'With `details`' },
          },
          ['name', 'publishAt', 'unpublishAt', 'state'],
        ),
      ),
      next: { ...stringOrNull, description: 'For after; null on the last page' },
      previous: { ...stringOrNull, description: 'With `before`: for before; null on the first page' },
    },
    ['previous'],
  ),
  component: 'ManagedEntities',
} as const satisfies Shape;

const becomes = { type: 'string', enum: ['published', 'over'] } as const satisfies Shape;

export type ScheduleAnswer = ValueOf<typeof scheduleAnswerShape>;

export const scheduleAnswerShape = {
  ...object({
    scheduled: list(
      object({
        sourceGroup: anyString,
        environment: stringOrNull,
        originId: anyString,
        type: anyString,
        at: time,
        becomes,
      }),
    ),
    next: { ...stringOrNull, description: 'For after; null on the last page' },
  }),
  component: 'Schedule',
} as const satisfies Shape;

const diagnostic = object(
  {
    kind: anyString,
    tenant: anyString,
    environment: anyString,
    schema: anyString,
    place: { ...anyString, description: 'JSON path in the schema' },
    entityId: anyString,
    viewId: anyString,
    message: anyString,
    count: { ...count, description: 'Entities on the page with this finding' },
  },
  ['environment', 'schema', 'place', 'entityId', 'viewId'],
);

export type DiagnosticsAnswer = ValueOf<typeof diagnosticsAnswerShape>;

export const diagnosticsAnswerShape = {
  ...object({
    diagnostics: list(diagnostic),
    next: { ...stringOrNull, description: 'For after; null when all entities have been checked' },
  }),
  component: 'Diagnostics',
} as const satisfies Shape;

export const previewBodyShape = {
  type: 'object',
  properties: {
    schema: {
      anyOf: [
        {
          type: 'string',
          description:
            'Alias of a schema, `index:<alias>`, or `index:<group>:<type>` for an auto-indexed type',
        },
        {
          type: 'object',
          properties: {
            kind: { type: 'string', enum: ['full', 'index'] },
            language: { type: 'string', enum: ['json', 'js', 'ts'] },
            text: anyString,
            alias: {
              type: 'string',
              pattern: `^[A-Za-z0-9_-]{1,${configNameCharactersMax}}$`,
              description: 'Schema of the tenant that it replaces in this preview; absent: it is added',
            },
          },
          required: ['kind', 'language', 'text'],
          description: 'A schema that does not have to be stored',
        },
      ],
      'x-rule':
        'must be the alias of a schema, or {"kind", "language", "text"} with the kind "full" or "index" and the language "json", "js" or "ts"',
    },
    entity: {
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'In the format of ingest; does not have to be stored',
    },
    originId: {
      type: ['string', 'null'],
      minLength: 1,
      description: 'Id of a stored entity; together with `entity`, its id',
    },
    sourceGroup: { type: ['string', 'null'], description: 'Optional if the tenant has only one' },
    environment: { type: ['string', 'null'], description: 'Optional if the tenant has only one' },
  },
  required: ['schema'],
} as const satisfies Shape;

export type PreviewAnswer = ValueOf<typeof previewAnswerShape>;

export const previewAnswerShape = {
  type: 'object',
  properties: {
    view: {
      description: 'Null for an index, and if the schema makes nothing. A reference is `{"$view": id}`',
    },
    urls: strings,
    handles: strings,
    item: { type: 'object', additionalProperties: true, description: 'For an index' },
    lookups: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          place: anyString,
          matched: { ...count, description: 'Entities that the condition matched, at most 1,000' },
          cut: {
            ...anyBoolean,
            description: 'It matched more than 1,000, and `top` did not limit it to fewer',
          },
        },
        required: ['place', 'matched', 'cut'],
      },
    },
    missing: {
      type: 'array',
      items: {
        type: 'object',
        properties: { path: anyString, viewId: anyString },
        required: ['path', 'viewId'],
      },
      description: 'References to views that do not exist',
    },
    diagnostics: list(diagnostic),
    console: { ...strings, description: 'Console output of the code; absent: none' },
    milliseconds: count,
  },
  required: ['view', 'urls', 'handles', 'lookups', 'missing', 'diagnostics', 'milliseconds'],
  component: 'Preview',
} as const satisfies Shape;
export type WebhookAnswer = ValueOf<typeof webhookAnswerShape>;

export const webhookAnswerShape = {
  ...object({
    alias: anyString,
    environment: anyString,
    url: anyString,
    state: { type: 'string', enum: ['ok', 'retrying', 'refused', 'disabled'] },
    behind: { ...count, description: 'Entries of the change log after its position' },
    lastStatus: { ...countOrNull, description: 'Null: no response' },
    lastAttemptAt: { type: ['string', 'null'], format: 'date-time' },
    nextAttemptAt: { type: ['string', 'null'], format: 'date-time' },
    offset: { ...anyString, description: 'An offset as for GET /changes/v1' },
  }),
  component: 'ManagedWebhook',
} as const satisfies Shape;

export type WebhooksAnswer = ValueOf<typeof webhooksAnswerShape>;

export const webhooksAnswerShape = {
  ...object({ webhooks: list(webhookAnswerShape) }),
  component: 'ManagedWebhooks',
} as const satisfies Shape;

export type WebhookTestAnswer = ValueOf<typeof webhookTestShape>;

export const webhookTestShape = {
  ...object({ status: count, milliseconds: count }),
  component: 'TestedWebhook',
} as const satisfies Shape;

export const webhookReplayShape = object({
  since: { ...anyString, description: 'An offset, `beginning` or `now`' },
});

const dependentsShape = object({
  total: count,
  views: { ...strings, description: 'Ids of the first 100' },
});

const buildCauses = ['ingest', 'lookup', 'configuration', 'repair', 'restore', 'schedule'] as const;

export type ExplainViewAnswer = ValueOf<typeof explainViewAnswerShape>;

export const explainViewAnswerShape = {
  ...object(
    {
      id: anyString,
      alias: anyString,
      environment: anyString,
      entity: object({ id: anyString, originId: anyString, type: anyString, updatedAt: time }),
      view: { description: 'The view; a reference is `{"$view": viewId}`' },
      size: { ...count, description: 'Bytes of its JSON without referenced views' },
      urls: list(
        object(
          {
            url: anyString,
            kind: { type: 'string', enum: ['page', 'redirect'] },
            served: anyBoolean,
            beatenBy: anyString,
          },
          ['beatenBy'],
        ),
      ),
      handles: list(object({ handle: anyString, served: anyBoolean, beatenBy: anyString }, ['beatenBy'])),
      lookups: list(
        object({
          place: anyString,
          sourceGroup: anyString,
          condition: anyString,
          matched: { ...count, description: 'Entities that the condition matched, at most 1,000' },
          taken: { ...count, description: 'Entities left after `top`' },
          cut: { ...anyBoolean, description: 'The limit of 1,000 was reached' },
        }),
      ),
      shows: list(
        object(
          {
            viewId: anyString,
            paths: strings,
            missing: anyBoolean,
            scheduled: {
              ...object({ at: time, becomes }),
              description: 'When its entity is published, where it waits for that',
            },
          },
          ['scheduled'],
        ),
      ),
      shownBy: dependentsShape,
      lookedUpBy: dependentsShape,
      indexItems: strings,
      built: object({
        at: time,
        because: object(
          {
            kind: { type: 'string', enum: [...buildCauses] },
            entityId: anyString,
            version: anyString,
          },
          ['entityId', 'version'],
        ),
      }),
      scheduled: {
        ...object({ at: time, becomes }),
        description: 'The next scheduled time of its entity, if any',
      },
      failure: {
        ...object({ message: anyString, place: anyString }),
        description: 'Why the schema fails for the current entity; the last view is kept',
      },
    },
    ['scheduled', 'failure'],
  ),
  component: 'ExplainedView',
} as const satisfies Shape;
