/** What a key of one tenant gets for the ids and names of another. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import type { RouteName } from '../../../src/http/routing/route-table.ts';
import { routeTable } from '../../../src/http/routing/route-table.ts';
import { until } from '../../support/until.ts';
import type { Answer, Client } from '../../system/support/client.ts';
import { sharedPlatform } from '../../system/support/processes/shared-platform.ts';
import type { System } from '../../system/support/processes/system.ts';
import { clientKey, managementKey, siteFiles, sourceKey } from '../../system/support/site.ts';

/** Part of every name, id and string of the other tenant. */
const secret = 'secret-of-others';
const theirs = {
  environment: `${secret}-environment`,
  environmentId: `${secret}-environment-id`,
  sourceId: `${secret}-source-id`,
  group: `${secret}-group`,
  type: `${secret}-type`,
  schema: `${secret}-schema`,
  webhook: `${secret}-webhook`,
  originId: `${secret}-entity`,
  key: (kind: string) => `theirs-${kind}`,
};
const viewId = `gid://Environment/${theirs.environmentId}/Source/${theirs.sourceId}/Entity/${theirs.originId}/View/${theirs.schema}`;

const theirSchema: Json = {
  triggers: { [theirs.group]: [theirs.type] },
  route: { url: '{url}', handles: ['{p.title}'] },
  properties: { title: '{p.title}' },
};
const theirIndex: Json = {
  triggers: { [theirs.group]: [theirs.type] },
  index: { fields: { title: { type: 'text' } } },
  properties: { title: '{p.title}' },
};

let system: System;
let client: Client;
/** Ids of jobs of the other tenant. */
let [rebuildJob, dryRunJob] = ['', ''];
/** An offset in its changes. */
let offset = '';

before(async () => {
  system = await sharedPlatform({
    ...siteFiles({
      tenant: 'others',
      schemas: { [theirs.schema]: theirSchema },
      indexes: { [theirs.schema]: theirIndex },
      settings: {
        environments: [{ id: theirs.environmentId, alias: theirs.environment }],
        sourceGroups: [
          {
            alias: theirs.group,
            autoIndex: true,
            sources: [
              {
                id: theirs.sourceId,
                name: `${secret} CMS`,
                environments: [theirs.environment],
                apiKeys: [theirs.key('source')],
              },
            ],
          },
        ],
        environmentClients: [
          {
            name: secret,
            environment: theirs.environment,
            domains: ['site'],
            apiKeys: [theirs.key('client')],
          },
        ],
        managementClients: [{ name: secret, apiKeys: [theirs.key('management')] }],
        webhooks: [
          {
            alias: theirs.webhook,
            environment: theirs.environment,
            url: `http://127.0.0.1:9/${secret}`,
            secret: 'whsec_c2VjcmV0',
          },
        ],
      },
    }),
    ...siteFiles({
      tenant: 'own',
      settings: { managementClients: [{ name: 'ops', apiKeys: [managementKey] }] },
    }),
  });
  client = system.client('web.1');
  await save(
    theirs.key('source'),
    { type: theirs.type, url: `/${secret}`, properties: { title: secret } },
    theirs.originId,
  );
  await save(sourceKey, { type: 'page', url: '/own', properties: { title: 'own' } }, 'own');
  const changes = await client.get('/changes/v1', { key: theirs.key('client') });
  offset = String(changes.json.next);
  const files = await client.get('/management/v1/configuration', { key: theirs.key('management') });
  const { documents } = files.json;
  const changed = { ...documents, [`schemas/${secret}-2.json`]: JSON.stringify(theirSchema) };
  rebuildJob = (await put(changed, '')).json.job;
  dryRunJob = (await put(documents, '?dryRun=true&removals=true')).json.job;
  await until('the jobs of the other tenant are completed', async () => {
    const states = await Promise.all(
      [rebuildJob, dryRunJob].map((id) => jobOf(id, theirs.key('management'))),
    );
    return states.every(({ json }) => json.state === 'completed');
  });
});

async function save(key: string, entity: Json, originId: string): Promise<void> {
  const saved = await client.post(`/ingest/v2/${originId}`, entity, { key });
  assert.equal(saved.status, 200, saved.text);
  const version = String(saved.headers['x-service-version']);
  await untilShown(version, key === sourceKey ? clientKey : theirs.key('client'));
}

/** Waits until a write is processed, because some endpoints list what is processed. */
async function untilShown(version: string, key: string): Promise<void> {
  assert.equal((await client.get('/v2?handle=nothing', { key, version })).status, 200);
}

function put(documents: Json, query: string): Promise<Answer> {
  const key = theirs.key('management');
  return client.call('PUT', `/management/v1/configuration${query}`, { key, body: { documents } });
}

function jobOf(id: string, key: string): Promise<Answer> {
  return client.get(`/management/v1/jobs/${id}`, { key });
}

interface Attempt {
  readonly status: number;
  /** Replaces the path of the route, and its parameters. */
  readonly path: string;
  readonly body?: Json;
}

const tool = (name: string, given: Json): Json => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given },
});
const entity = { type: 'page', properties: { title: 'mine' } };
const search = { search: { value: secret, fields: [{ field: 'title', weight: 1 }] } };

/** The cursor of a page of the other tenant's schedule. */
const scheduleAfter = Buffer.from(JSON.stringify([0, theirs.sourceId, theirs.originId])).toString(
  'base64url',
);

/** For every endpoint with a key: requests with the own key for ids of the other tenant. */
const attempts: () => Readonly<Partial<Record<RouteName, readonly Attempt[]>>> = () => ({
  saveEntities: [{ status: 200, path: '/ingest/v2', body: [{ ...entity, originId: theirs.originId }] }],
  saveEntity: [{ status: 200, path: `/ingest/v2/${theirs.originId}`, body: entity }],
  deleteEntity: [{ status: 200, path: `/ingest/v2/${theirs.originId}` }],
  deleteEntities: [{ status: 200, path: '/ingest/v2', body: { originIds: [theirs.originId] } }],
  saveEntityV1: [
    { status: 200, path: '/ingest/v1', body: { id: theirs.originId, type: 'page', properties: {} } },
  ],
  deleteEntityV1: [{ status: 200, path: `/ingest/v1?id=${theirs.originId}` }],
  deliver: [
    { status: 200, path: `/v2?url=/${secret}` },
    { status: 200, path: `/v2?handle=${secret}` },
    { status: 200, path: `/v2?id=${viewId}` },
  ],
  deliverV1: [{ status: 200, path: `/v1?url=/${secret}` }],
  deliverKeys: [{ status: 200, path: '/v2', body: { ids: [viewId], handles: [secret] } }],
  listRoutesV1: [{ status: 200, path: '/routes/v1?first=100' }],
  listRoutesV2: [{ status: 200, path: '/routes/v2' }],
  changes: [
    { status: 410, path: `/changes/v1?since=${offset}` },
    { status: 200, path: '/changes/v1' },
  ],
  queryIndex: [{ status: 404, path: `/v1/${theirs.schema}`, body: search }],
  querySourceGroup: [
    { status: 404, path: `/v1/sourceGroupAlias/${theirs.group}/type/${theirs.type}`, body: search },
  ],
  querySources: [
    {
      status: 400,
      path: '/v1/source',
      body: [{ sourceGroupAlias: theirs.group, sourceEntityType: theirs.type, ...search }],
    },
  ],
  queryIndexes: [{ status: 400, path: '/v1', body: [{ index: theirs.schema, ...search }] }],
  managementStatus: [{ status: 200, path: '/management/v1/status' }],
  managementTenant: [{ status: 200, path: '/management/v1/tenant' }],
  managementEntities: [
    { status: 404, path: `/management/v1/entities?sourceGroup=${theirs.group}` },
    { status: 404, path: `/management/v1/entities?sourceGroup=cms&environment=${theirs.environmentId}` },
    { status: 200, path: `/management/v1/entities?sourceGroup=cms&type=${theirs.type}` },
    { status: 200, path: `/management/v1/entities?sourceGroup=cms&originId=${theirs.originId}&details=true` },
    { status: 200, path: `/management/v1/entities?sourceGroup=cms&before=zzz&details=true` },
  ],
  managementEntity: [
    { status: 404, path: `/management/v1/entities/${theirs.group}/${theirs.originId}` },
    { status: 404, path: `/management/v1/entities/cms/${theirs.originId}` },
  ],
  managementSchedule: [
    { status: 200, path: '/management/v1/schedule' },
    { status: 200, path: `/management/v1/schedule?after=${scheduleAfter}` },
    { status: 422, path: `/management/v1/schedule?after=${theirs.sourceId}` },
  ],
  explainUrl: [
    { status: 404, path: `/management/v1/explain/url?url=/x&environment=${theirs.environmentId}` },
    { status: 404, path: `/management/v1/explain/url?url=/x&client=${secret}` },
    { status: 200, path: '/management/v1/explain/url?url=/x' },
  ],
  explainView: [{ status: 404, path: `/management/v1/explain/view?id=${viewId}` }],
  managementQuery: [
    { status: 404, path: `/management/v1/query?environment=${theirs.environmentId}`, body: search },
    { status: 404, path: '/management/v1/query', body: { index: theirs.schema, ...search } },
  ],
  managementChanges: [
    { status: 404, path: `/management/v1/changes?environment=${theirs.environmentId}` },
    { status: 410, path: `/management/v1/changes?since=${offset}` },
  ],
  getConfiguration: [{ status: 200, path: '/management/v1/configuration' }],
  putConfiguration: [
    {
      status: 422,
      path: '/management/v1/configuration?dryRun=true',
      body: { documents: { [`../others/schemas/${theirs.schema}.json`]: '{}' } },
    },
  ],
  listEntities: [
    { status: 200, path: '/ingest/entities' },
    { status: 200, path: `/ingest/entities?type=${theirs.type}&after=${theirs.originId}` },
  ],
  managementJob: [
    { status: 404, path: `/management/v1/jobs/${rebuildJob}` },
    { status: 404, path: `/management/v1/jobs/${dryRunJob}` },
  ],
  managementDiagnostics: [
    { status: 200, path: '/management/v1/diagnostics' },
    { status: 200, path: `/management/v1/diagnostics?after=${theirs.sourceId}/a` },
  ],
  managementPreview: [
    {
      status: 404,
      path: '/management/v1/preview',
      body: { schema: theirs.schema, originId: theirs.originId, sourceGroup: 'cms' },
    },
    {
      status: 404,
      path: '/management/v1/preview',
      body: {
        schema: { kind: 'full', language: 'json', text: '{"triggers":{"cms":["page"]},"properties":{}}' },
        originId: theirs.originId,
        sourceGroup: theirs.group,
      },
    },
  ],
  managementWebhooks: [{ status: 200, path: '/management/v1/webhooks' }],
  testWebhook: [{ status: 404, path: `/management/v1/webhooks/${theirs.webhook}/test` }],
  replayWebhook: [
    { status: 404, path: `/management/v1/webhooks/${theirs.webhook}/replay`, body: { since: 'beginning' } },
  ],
  enableWebhook: [{ status: 404, path: `/management/v1/webhooks/${theirs.webhook}/enable` }],
  mcp: [
    { status: 200, path: '/mcp', body: tool('explain_view', { id: viewId }) },
    {
      status: 200,
      path: '/mcp',
      body: tool('explain_url', { url: '/x', environment: theirs.environmentId }),
    },
    { status: 200, path: '/mcp', body: tool('diagnostics', { after: `${theirs.sourceId}/a` }) },
  ],
});

test('other tenants: no endpoint reveals anything for the ids and names of another tenant', async () => {
  const tried = attempts();
  const withKey = routeTable.filter(({ access }) => access.kind !== 'open' && access.kind !== 'metrics');
  assert.deepEqual(
    Object.keys(tried).sort(),
    withKey.map(({ name }) => name).sort(),
    'every endpoint is tried',
  );
  const wrong: string[] = [];
  for (const { name, method, access } of withKey) {
    const key = access.kind === 'source' ? sourceKey : access.kind === 'client' ? clientKey : managementKey;
    for (const attempt of tried[name] ?? []) {
      const { path, body, status } = attempt;
      const send = () =>
        fetch(`${system.url()}${path}`, {
          method: method.toUpperCase(),
          headers: { 'X-Api-Key': key },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
      // A reused connection can be closed at that moment.
      const response = await send().catch(send);
      const text = await response.text();
      const version = response.headers.get('X-Service-Version');
      if (version !== null) await untilShown(version, clientKey);
      const shown = `${method} ${path}: ${response.status} ${text}`;
      const isRefused = response.status === status;
      if (!isRefused || withoutEcho(text, path, body).includes(secret)) wrong.push(shown);
    }
  }
  assert.deepEqual(wrong, []);
});

/** An answer may repeat what the request says. */
function withoutEcho(text: string, path: string, body: Json | undefined): string {
  const said = `${decodeURIComponent(path)} ${JSON.stringify(body ?? '')}`;
  const words = Object.values({ ...theirs, viewId }).filter((word) => typeof word === 'string');
  const repeated = [...words, rebuildJob, dryRunJob, `/${secret}`, secret].filter((word) =>
    said.includes(word),
  );
  return repeated.sort((a, b) => b.length - a.length).reduce((rest, word) => rest.replaceAll(word, ''), text);
}

test('other tenants: no key of one tenant can reach what another created, and the other still has it', async () => {
  const own = await client.get(`/v2?id=${viewId}`, { key: theirs.key('client') });
  assert.equal(own.json.views[viewId].title, secret);
  for (const id of [rebuildJob, dryRunJob]) {
    assert.equal((await jobOf(id, theirs.key('management'))).status, 200);
  }
});

test('other tenants: a job counts only the entities of its tenant', async () => {
  const files = await client.get('/management/v1/configuration', { key: managementKey });
  const documents = {
    ...files.json.documents,
    'schemas/page.json': JSON.stringify({ triggers: { cms: ['page'] }, properties: {} }),
  };
  const { json } = await client.call('PUT', '/management/v1/configuration', {
    key: managementKey,
    body: { documents },
  });
  await until(
    'the rebuild is completed',
    async () => (await jobOf(json.job, managementKey)).json.state === 'completed',
  );
  const ended = await jobOf(json.job, managementKey);
  assert.deepEqual(
    [ended.json.done, ended.json.total],
    [1, 1],
    'one of its own, though the other tenant has one too',
  );
});
