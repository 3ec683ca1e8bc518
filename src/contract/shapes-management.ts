/** Responses of the management interface (docs/reference/management.md). */
import { configNameCharactersMax } from './limits.ts';
import { publishStates } from './publish-times.ts';
import {
  count,
  countOrNull,
  flag,
  list,
  object,
  type Shape,
  text,
  textOrNull,
  texts,
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
    version: { ...text, description: 'Version of the platform that this front runs' },
    processes: list(
      object(
        {
          id: text,
          role: { type: 'string', enum: ['web', 'worker', 'jobs'] },
          host: text,
          pid: { ...count, description: 'With `--small` all roles are one process, with one pid' },
          version: { ...textOrNull, description: 'Version of the platform that it runs; null before 1.0' },
          generation: { ...count, description: 'Configuration generation that it uses' },
          partitions: list(count),
          waitingFor: { ...texts, description: 'Empty when it is ready' },
          requestsPerSecond: { type: 'number', description: 'For a front' },
          rates: {
            ...rates,
            description: 'For a front: requests per second; routes count as delivery',
          },
          shardCopies: {
            ...object({
              group: { ...text, description: 'The partitions that it holds: `0/2` is the first half' },
              ready: { ...texts, description: 'The groups for which it can answer queries' },
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
        owner: { ...textOrNull, description: 'Id of a worker' },
        backlog: { ...count, description: 'Waiting stream entries' },
        lagMs: { ...count, description: 'Age of the oldest waiting entry' },
      }),
    ),
    rebuilds: list(object({ what: text, done: count, total: count, etaSeconds: countOrNull })),
    indexes: list(object({ index: text, environment: text, items: count })),
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
      originId: text,
      id: text,
      sourceGroup: text,
      type: text,
      url: textOrNull,
      originParentId: textOrNull,
      redirects: texts,
      properties: { type: 'object', additionalProperties: true },
    }),
    publishAt: timeOrNull,
    unpublishAt: timeOrNull,
    state: { type: 'string', enum: [...publishStates], description: 'Current state according to its time' },
    createdAt: time,
    updatedAt: time,
    version: { ...text, description: 'For X-Service-Min-Version: a read with it shows this state' },
    made: list(
      object({
        environment: text,
        views: list(object({ id: text, alias: text, urls: texts, handles: texts })),
        items: list(object({ index: text })),
      }),
    ),
  }),
  component: 'ManagedEntity',
} as const satisfies Shape;

export type ExplainUrlAnswer = ValueOf<typeof explainUrlAnswerShape>;

export const explainUrlAnswerShape = {
  ...object({
    steps: list(object({ step: text, result: text })),
    claims: list(
      object({
        viewId: text,
        url: text,
        kind: { type: 'string', enum: ['page', 'redirect'] },
        since: time,
        served: flag,
        because: text,
      }),
    ),
    answer: { type: 'integer', enum: [200, 301, 404] },
  }),
  component: 'ExplainedUrl',
} as const satisfies Shape;

const documentsShape = {
  type: 'object',
  additionalProperties: text,
  description: 'Path in the folder of the tenant -> text: `tenant.json`, `schemas/page.json`',
} as const satisfies Shape;

export type ConfigurationAnswer = ValueOf<typeof configurationAnswerShape>;

export const configurationAnswerShape = {
  ...object({
    digest: text,
    appliedAt: { type: ['string', 'null'], format: 'date-time' },
    documents: documentsShape,
  }),
  component: 'TenantConfiguration',
} as const satisfies Shape;

export const configurationBodyShape = object({ documents: documentsShape });

export type AppliedAnswer = ValueOf<typeof appliedAnswerShape>;

export const appliedAnswerShape = {
  ...object({ digest: text, job: { ...text, description: 'For GET /management/v1/jobs/{id}' } }),
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
      added: list(object({ id: text, after: {} })),
      changed: list(object({ id: text, before: {}, after: {} })),
      removed: list(object({ id: text, before: {} })),
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
      failure: { ...text, description: 'Why a dry run failed' },
    },
    ['diff', 'failure'],
  ),
  component: 'Job',
} as const satisfies Shape;

export type TenantAnswer = ValueOf<typeof tenantAnswerShape>;

export const tenantAnswerShape = {
  ...object({
    alias: text,
    environments: list(object({ id: text, alias: text })),
    sourceGroups: list(
      object({
        alias: text,
        autoIndex: flag,
        sources: list(object({ id: text, name: text, environments: texts })),
        types: list(object({ type: text, entities: count })),
      }),
    ),
    domains: list(object({ alias: text, hostnames: texts })),
    schemas: list(
      object({
        alias: text,
        kind: { type: 'string', enum: ['full', 'partial', 'index'] },
        language: { type: 'string', enum: ['json', 'js', 'ts'] },
        triggers: {
          type: 'object',
          additionalProperties: texts,
          description: 'Source group -> entity types',
        },
        views: { ...count, description: 'Total of all environments' },
      }),
    ),
    indexes: list(object({ alias: text, items: count })),
    clients: list(object({ name: text, environment: text, domains: texts, scopes: texts })),
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
            originId: text,
            type: text,
            url: textOrNull,
            updatedAt: time,
            name: { ...textOrNull, description: 'With `details`: the title of one of its views' },
            publishAt: { ...timeOrNull, description: 'With `details`' },
            unpublishAt: { ...timeOrNull, description: 'With `details`' },
            state: { type: 'string', enum: [...publishStates], description: 'With `details`' },
          },
          ['name', 'publishAt', 'unpublishAt', 'state'],
        ),
      ),
      next: { ...textOrNull, description: 'For after; null on the last page' },
      previous: { ...textOrNull, description: 'With `before`: for before; null on the first page' },
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
        sourceGroup: text,
        environment: textOrNull,
        originId: text,
        type: text,
        at: time,
        becomes,
      }),
    ),
    next: { ...textOrNull, description: 'For after; null on the last page' },
  }),
  component: 'Schedule',
} as const satisfies Shape;

const diagnostic = object(
  {
    kind: text,
    tenant: text,
    environment: text,
    schema: text,
    place: { ...text, description: 'JSON path in the schema' },
    entityId: text,
    viewId: text,
    message: text,
    count: { ...count, description: 'Entities on the page with this finding' },
  },
  ['environment', 'schema', 'place', 'entityId', 'viewId'],
);

export type DiagnosticsAnswer = ValueOf<typeof diagnosticsAnswerShape>;

export const diagnosticsAnswerShape = {
  ...object({
    diagnostics: list(diagnostic),
    next: { ...textOrNull, description: 'For after; null when all entities have been checked' },
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
            text,
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
    urls: texts,
    handles: texts,
    item: { type: 'object', additionalProperties: true, description: 'For an index' },
    lookups: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          place: text,
          matched: { ...count, description: 'Entities that the condition matched, at most 1,000' },
          cut: { ...flag, description: 'It matched more than 1,000, and `top` did not limit it to fewer' },
        },
        required: ['place', 'matched', 'cut'],
      },
    },
    missing: {
      type: 'array',
      items: {
        type: 'object',
        properties: { path: text, viewId: text },
        required: ['path', 'viewId'],
      },
      description: 'References to views that do not exist',
    },
    diagnostics: list(diagnostic),
    console: { ...texts, description: 'Console output of the code; absent: none' },
    milliseconds: count,
  },
  required: ['view', 'urls', 'handles', 'lookups', 'missing', 'diagnostics', 'milliseconds'],
  component: 'Preview',
} as const satisfies Shape;
export type WebhookAnswer = ValueOf<typeof webhookAnswerShape>;

export const webhookAnswerShape = {
  ...object({
    alias: text,
    environment: text,
    url: text,
    state: { type: 'string', enum: ['ok', 'retrying', 'refused', 'disabled'] },
    behind: { ...count, description: 'Entries of the change log after its position' },
    lastStatus: { ...countOrNull, description: 'Null: no response' },
    lastAttemptAt: { type: ['string', 'null'], format: 'date-time' },
    nextAttemptAt: { type: ['string', 'null'], format: 'date-time' },
    offset: { ...text, description: 'An offset as for GET /changes/v1' },
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
  since: { ...text, description: 'An offset, `beginning` or `now`' },
});

const dependentsShape = object({
  total: count,
  views: { ...texts, description: 'Ids of the first 100' },
});

const buildCauses = ['ingest', 'lookup', 'configuration', 'repair', 'restore', 'schedule'] as const;

export type ExplainViewAnswer = ValueOf<typeof explainViewAnswerShape>;

export const explainViewAnswerShape = {
  ...object(
    {
      id: text,
      alias: text,
      environment: text,
      entity: object({ id: text, originId: text, type: text, updatedAt: time }),
      view: { description: 'The view; a reference is `{"$view": viewId}`' },
      size: { ...count, description: 'Bytes of its JSON without referenced views' },
      urls: list(
        object(
          { url: text, kind: { type: 'string', enum: ['page', 'redirect'] }, served: flag, beatenBy: text },
          ['beatenBy'],
        ),
      ),
      handles: list(object({ handle: text, served: flag, beatenBy: text }, ['beatenBy'])),
      lookups: list(
        object({
          place: text,
          sourceGroup: text,
          condition: text,
          matched: { ...count, description: 'Entities that the condition matched, at most 1,000' },
          taken: { ...count, description: 'Entities left after `top`' },
          cut: { ...flag, description: 'The limit of 1,000 was reached' },
        }),
      ),
      shows: list(
        object(
          {
            viewId: text,
            paths: texts,
            missing: flag,
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
      indexItems: texts,
      built: object({
        at: time,
        because: object(
          {
            kind: { type: 'string', enum: [...buildCauses] },
            entityId: text,
            version: text,
          },
          ['entityId', 'version'],
        ),
      }),
      scheduled: {
        ...object({ at: time, becomes }),
        description: 'The next scheduled time of its entity, if any',
      },
      failure: {
        ...object({ message: text, place: text }),
        description: 'Why the schema fails for the current entity; the last view is kept',
      },
    },
    ['scheduled', 'failure'],
  ),
  component: 'ExplainedView',
} as const satisfies Shape;
