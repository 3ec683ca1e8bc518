import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { platformVersion } from '../../../src/config/settings/platform-version.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { until } from '../../support/until.ts';
import type { Answer, Client } from '../../system/support/client.ts';
import { configure, manage, managed } from '../../system/support/manage.ts';
import { sharedPlatform } from '../../system/support/processes/shared-platform.ts';
import type { System } from '../../system/support/processes/system.ts';
import {
  clientKey,
  environmentId,
  managementKey,
  siteFiles,
  sourceId,
  sourceKey,
  viewIdOf,
} from '../../system/support/site.ts';
import { differencesFoundByVerify } from '../../system/support/verify.ts';

const readerKey = 'management-key-that-only-reads';

const schemas: Readonly<Record<string, Json>> = {
  page: {
    triggers: { cms: ['page'] },
    route: { url: '{url}', handles: ['{p.handle}'] },
    properties: { title: '{p.title}' },
  },
  list: {
    triggers: { cms: ['list'] },
    route: { url: '{url}' },
    properties: {
      pages: {
        type: 'array',
        input: {
          $lookup: {
            operator: 'equals',
            sourceEntityType: 'member',
            sourceEntityProperty: 'list',
            matchValue: '{originId}',
            top: 1,
          },
        },
        items: '{item.p.title}',
      },
      page: { type: 'reference', alias: 'page', originId: '{p.page}' },
      gone: { type: 'reference', alias: 'page', originId: 'nobody' },
    },
  },
  member: { triggers: { cms: ['member'] }, properties: { title: '{p.title}' } },
};
const indexes: Readonly<Record<string, Json>> = {
  pages: {
    triggers: { cms: ['page'] },
    index: { fields: { title: { type: 'text' } } },
    properties: { title: '{p.title}' },
  },
};

let system: System;
let client: Client;

before(async () => {
  system = await sharedPlatform(
    siteFiles({
      tenant: 'managed',
      schemas,
      indexes,
      settings: {
        domains: [
          { alias: 'site', hostnames: ['www.example.com', '*'] },
          { alias: 'shop', hostnames: ['shop.example.com'] },
        ],
        environmentClients: [
          { name: 'website', environment: 'production', domains: ['site', 'shop'], apiKeys: [clientKey] },
          { name: 'shop', environment: 'production', domains: ['shop'], apiKeys: ['key-of-the-shop'] },
        ],
        managementClients: [
          ...managed.managementClients,
          { name: 'eyes', scopes: ['read'], apiKeys: [readerKey] },
        ],
      },
    }),
  );
  client = system.client('web.1');
});
const gid = (originId: string) => `gid://Source/${sourceId}/Entity/${originId}`;

/** Saves a page and waits until it is served. */
async function savePage(originId: string, url: string, redirects: string[] = []): Promise<void> {
  const body = { type: 'page', url, redirects, properties: { title: originId, handle: `h-${originId}` } };
  const saved = await client.post(`/ingest/v2/${encodeURIComponent(originId)}`, body, { key: sourceKey });
  const version = String(saved.headers['x-service-version']);
  const headers = { 'X-Service-Min-Version': version };
  const read = await client.get(`/v2?id=${encodeURIComponent(viewIdOf(originId))}`, {
    key: clientKey,
    headers,
  });
  assert.equal(read.status, 200);
}

test('management: a management key works only here, no other key does, and a scope is required', async () => {
  assert.equal((await client.get('/management/v1/status')).status, 401);
  assert.equal((await manage(client, '/status', { key: 'no-such-key' })).status, 401);
  assert.equal((await manage(client, '/status', { key: sourceKey })).status, 403);
  assert.equal((await manage(client, '/status', { key: clientKey })).status, 403);
  assert.equal((await manage(client, '/status', { key: readerKey })).status, 200);
  assert.equal((await client.get('/v2?handle=x', { key: managementKey })).status, 403);
  assert.equal((await client.post('/ingest/v2', [], { key: managementKey })).status, 403);
});

test('management: status reports processes, partitions, indexes and memory', async () => {
  await savePage('for-status', '/for-status');
  await until('nothing is waiting', async () => {
    const { json: now } = await manage(client, '/status');
    return (
      now.rebuilds.length === 0 && now.partitions.every(({ backlog }: { backlog: number }) => backlog === 0)
    );
  });
  const { json } = await manage(client, '/status');
  assert.equal(json.version, platformVersion);
  assert.deepEqual((await client.get('/health/live')).json, { status: 200, version: platformVersion });
  assert.deepEqual(json.processes.map(({ role }: { role: string }) => role).sort(), [
    'jobs',
    'web',
    'web',
    'worker',
    'worker',
  ]);
  const isOfWorker = (id: string) =>
    json.processes.some((one: JsonObject) => one.role === 'worker' && one.id === id);
  assert.deepEqual(
    json.partitions.map(({ owner, ...others }: JsonObject) => ({
      ...others,
      hasOwner: isOfWorker(String(owner)),
    })),
    Array.from({ length: system.partitions }, (_, partition) => ({
      partition,
      hasOwner: true,
      backlog: 0,
      lagMs: 0,
    })),
  );
  const items = Object.fromEntries(
    json.indexes.map((one: { index: string; items: number }) => [one.index, one.items]),
  );
  assert.deepEqual(Object.keys(items).sort(), ['cms:page', 'pages']);
  assert.ok(items.pages >= 1);
  assert.deepEqual(json.rebuilds, []);
  assert.ok(json.redis.usedBytes > 0);
  assert.equal(json.redis.maxBytes, null);
});

test('management: an entity is returned as it was saved, with everything derived from it', async () => {
  const originId = 'a/b?ä';
  await savePage(originId, '/told', ['/old', 'https://www.example.com/older']);
  const path = `/entities/cms/${encodeURIComponent(originId)}`;
  const { status, json } = await manage(client, path);
  assert.equal(status, 200);
  assert.deepEqual(json.entity, {
    originId,
    id: gid(originId),
    sourceGroup: 'cms',
    type: 'page',
    url: '/told',
    originParentId: null,
    redirects: ['/old', 'https://www.example.com/older'],
    properties: { title: originId, handle: `h-${originId}` },
  });
  assert.equal(json.createdAt, json.updatedAt);
  assert.equal(new Date(json.createdAt).toISOString(), json.createdAt);
  const [{ environment, views, items }] = json.made;
  assert.equal(environment, 'production');
  assert.deepEqual(views, [
    {
      id: viewIdOf(originId),
      alias: 'page',
      urls: ['/told', '/old', 'https://www.example.com/older'],
      handles: [`h-${originId}`],
    },
  ]);
  assert.deepEqual(items.map(({ index }: { index: string }) => index).sort(), ['cms:page', 'pages']);
  const headers = { 'X-Service-Min-Version': json.version };
  assert.equal((await client.get('/v2?url=/told', { key: clientKey, headers })).status, 200);
  for (const name of ['production', environmentId]) {
    assert.equal((await manage(client, `${path}?environment=${name}`)).status, 200, name);
  }
});

test('management: entities are listed by type in the order of their originIds, and counted', async () => {
  const ids = Array.from({ length: 120 }, (_, index) => `list-${index}`);
  const note = (originId: string) => ({ originId, type: 'note', properties: { title: originId } });
  for (let at = 0; at < ids.length; at += 50) {
    const bulk = await client.post('/ingest/v2', ids.slice(at, at + 50).map(note), { key: sourceKey });
    assert.equal(bulk.status, 200);
  }
  await savePage('listed-page', '/listed-page');
  await until('all are processed', async () => (await countOf('note')) === ids.length);
  const pages: string[] = [];
  for (let after = ''; ; ) {
    const { json } = await manage(client, `/entities?sourceGroup=cms&type=note&first=50${after}`);
    pages.push(...json.entities.map(({ originId }: { originId: string }) => originId));
    if (json.next === null) break;
    after = `&after=${encodeURIComponent(json.next)}`;
  }
  assert.deepEqual(pages, ids.toSorted());
  const { json: all } = await manage(client, '/entities?sourceGroup=cms&first=500');
  assert.ok(all.entities.some(({ type }: { type: string }) => type === 'page'));
  const [first] = all.entities;
  assert.deepEqual(Object.keys(first), ['originId', 'type', 'url', 'updatedAt']);

  const backwards: string[] = [];
  let before = 'list-99z';
  for (let isFirst = false; !isFirst; ) {
    const query = `sourceGroup=cms&type=note&first=50&before=${before}`;
    const { json } = await manage(client, `/entities?${query}`);
    const page: string[] = json.entities.map(({ originId }: { originId: string }) => originId);
    assert.equal(json.next, page.at(-1));
    backwards.unshift(...page);
    before = json.previous;
    isFirst = json.previous === null;
  }
  assert.deepEqual(backwards, ids.toSorted());
  const both = await manage(client, '/entities?sourceGroup=cms&after=a&before=b');
  assert.deepEqual([both.status, both.json.message], [422, 'before cannot be combined with after']);

  const removed = await client.call('DELETE', '/ingest/v2', {
    key: sourceKey,
    body: { originIds: ids.slice(0, 50) },
  });
  assert.equal(removed.status, 200);
  const retyped = await client.post(
    '/ingest/v2/list-119',
    { type: 'page', url: '/retyped', properties: {} },
    {
      key: sourceKey,
      headers: { 'X-Service-Force-Type': '1' },
    },
  );
  assert.equal(retyped.status, 200);
  await until('all is processed', async () => (await countOf('note')) === 69);
  const { json: tenant } = await manage(client, '/tenant');
  assert.equal(tenant.alias, 'managed');
  const page = tenant.schemas.find(({ alias }: { alias: string }) => alias === 'page');
  const pagesThere = await countOf('page');
  assert.deepEqual(page, {
    alias: 'page',
    kind: 'full',
    language: 'json',
    triggers: { cms: ['page'] },
    views: pagesThere,
  });
  assert.deepEqual(tenant.indexes, [{ alias: 'pages', items: pagesThere }]);
  assert.ok(!JSON.stringify(tenant).includes('key'));
  for (const search of ['', '?sourceGroup=pim', '?sourceGroup=cms&first=0', '?sourceGroup=cms&first=501']) {
    assert.ok([404, 422].includes((await manage(client, `/entities${search}`)).status), search);
  }
  assert.deepEqual(await differencesFoundByVerify(system), []);
});

async function countOf(type: string): Promise<number> {
  const { json } = await manage(client, '/tenant');
  const [group] = json.sourceGroups;
  return group.types.find((one: { type: string }) => one.type === type)?.entities ?? 0;
}

const save = async (
  originId: string,
  type: string,
  url: string | null,
  properties: JsonObject,
): Promise<void> => {
  const saved = await client.post(`/ingest/v2/${originId}`, { type, url, properties }, { key: sourceKey });
  const headers = { 'X-Service-Min-Version': String(saved.headers['x-service-version']) };
  await client.get('/v2?handle=none', { key: clientKey, headers });
};
const explained = async (originId: string, alias: string): Promise<Answer> => {
  return await manage(client, `/explain/view?id=${encodeURIComponent(viewIdOf(originId, alias))}`);
};

test('management: a list of entities includes view names and publication state on request', async () => {
  const title = 'Named by its view';
  const entities = [
    { originId: 'named-a', type: 'page', url: '/named-a', properties: { title } },
    { originId: 'named-b', type: 'leaf', properties: { title } },
    { originId: 'named-c', type: 'page', url: '/named-c', properties: { title: 'x'.repeat(100_000) } },
    { originId: 'named-d', type: 'page', properties: { title }, publishAt: '2999-01-01T00:00:00Z' },
    { originId: 'named-e', type: 'page', properties: { title }, unpublishAt: '2001-01-01T00:00:00Z' },
  ];
  assert.equal((await client.post('/ingest/v2', entities, { key: sourceKey })).status, 200);
  const list = async (query: string) =>
    (await manage(client, `/entities?sourceGroup=cms&details=true&${query}`)).json.entities;
  await until('all are processed', async () => (await list('after=named-&first=5')).length === 5);
  const found = await list('after=named-&first=5');
  assert.deepEqual(
    found.map((one: JsonObject) => [one.originId, one.name, one.state, one.publishAt, one.unpublishAt]),
    [
      ['named-a', title, 'published', null, null],
      ['named-b', null, 'published', null, null],
      ['named-c', 'x'.repeat(80), 'published', null, null],
      ['named-d', null, 'waiting', '2999-01-01T00:00:00.000Z', null],
      ['named-e', null, 'over', null, '2001-01-01T00:00:00.000Z'],
    ],
  );
  const [waiting, ...others] = await list('state=waiting&before=named-e&first=1');
  assert.deepEqual([waiting.originId, others.length], ['named-d', 0]);
  assert.equal((await list('originId=named-a&type=page'))[0].name, title);
  assert.deepEqual(await list('originId=named-a&type=leaf'), []);
  assert.deepEqual(await list('originId=nobody'), []);
});

test('management: a view is explained: what it reads, what it shows, who shows it, why it was built', async () => {
  await savePage('shown', '/shown');
  await save('the-list', 'list', '/the-list', { page: 'shown' });
  await save('member-1', 'member', null, { list: 'the-list', title: 'One' });
  await save('member-2', 'member', null, { list: 'the-list', title: 'Two' });
  const { status, json } = await explained('the-list', 'list');
  assert.equal(status, 200);
  assert.deepEqual(json.view, {
    pages: ['One'],
    page: { $view: viewIdOf('shown') },
    gone: { $view: viewIdOf('nobody') },
  });
  assert.deepEqual(json.urls, [{ url: '/the-list', kind: 'page', served: true }]);
  const [lookup] = json.lookups;
  assert.deepEqual(
    { ...lookup, condition: undefined },
    {
      place: '$.properties.pages.input.$lookup',
      sourceGroup: 'cms',
      condition: undefined,
      matched: 2,
      taken: 1,
      cut: false,
    },
  );
  assert.match(lookup.condition, /list equals/);
  assert.deepEqual(json.shows, [
    { viewId: viewIdOf('shown'), paths: ['page'], missing: false },
    { viewId: viewIdOf('nobody'), paths: ['gone'], missing: true },
  ]);
  assert.deepEqual(json.built.because, { kind: 'lookup', entityId: gid('member-1') });
  assert.ok(Math.abs(Date.now() - Date.parse(json.built.at)) < 60_000);

  const page = (await explained('shown', 'page')).json;
  const listId = json.id;
  assert.deepEqual(page.shownBy, { total: 1, views: [listId] });
  assert.deepEqual(page.built.because, { kind: 'ingest', entityId: gid('shown') });
  assert.deepEqual(page.indexItems.toSorted(), ['cms:page', 'pages']);
  const member = (await explained('member-1', 'member')).json;
  assert.deepEqual(member.lookedUpBy, { total: 1, views: [listId] });
  const other = (await explained('member-2', 'member')).json;
  assert.deepEqual(other.lookedUpBy, { total: 1, views: [listId] }, 'found, though top left the other');

  await savePage('beaten', '/shown');
  const [beaten] = (await explained('shown', 'page')).json.urls;
  assert.deepEqual(beaten, { url: '/shown', kind: 'page', served: false, beatenBy: viewIdOf('beaten') });
  for (const [originId, alias, message] of [
    ['nobody', 'page', /no entity "nobody"/],
    ['shown', 'nothing', /no schema "nothing"/],
    ['shown', 'list', /not triggered by entities of the type "page"/],
  ] as const) {
    const answer = await explained(originId, alias);
    assert.equal(answer.status, 404);
    assert.match(answer.json.message, message);
  }
  assert.equal((await manage(client, '/explain/view?id=x')).status, 422);
});

test('management: a missing thing is a 404 that names it', async () => {
  for (const [path, message] of [
    ['/entities/cms/nobody', /entity "nobody"/],
    ['/entities/pim/nobody', /source group "pim"/],
    ['/entities/cms/x?environment=staging', /environment "staging"/],
    ['/explain/url?url=/x&client=nobody', /client "nobody"/],
  ] as const) {
    const { status, json } = await manage(client, path);
    assert.equal(status, 404, path);
    assert.match(json.message, message);
  }
  for (const path of ['/explain/url', '/explain/url?url=relative', `/explain/url?url=/${'x'.repeat(4096)}`]) {
    assert.equal((await manage(client, path)).status, 422, path.slice(0, 40));
  }
  assert.equal((await manage(client, '/entities/cms/%ff')).status, 422);
});

test('management: a URL is explained from its host to the winning claim', async () => {
  await savePage('first', '/contested');
  await savePage('second', '/contested', ['/moved']);
  const { json } = await manage(client, '/explain/url?url=/contested/x');
  assert.equal(json.answer, 404);
  const won = await manage(client, '/explain/url?url=https://anywhere.example/contested/');
  assert.equal(won.json.answer, 200);
  assert.deepEqual(
    won.json.claims.map(({ viewId: id, served, kind }: Record<string, unknown>) => [id, served, kind]),
    [
      [viewIdOf('second'), true, 'page'],
      [viewIdOf('first'), false, 'page'],
    ],
  );
  assert.match(won.json.claims[1].because, /later claim/);
  assert.deepEqual(
    won.json.steps.map(({ step }: { step: string }) => step),
    ['host', 'domain', 'path', 'claims', 'answer'],
  );
  const moved = await manage(client, '/explain/url?url=/moved');
  assert.equal(moved.json.answer, 301);
  assert.match(moved.json.steps.at(-1).result, /\/contested/);
  const elsewhere = await manage(
    client,
    '/explain/url?url=https://shop.example.com/contested&client=website',
  );
  assert.equal(elsewhere.json.answer, 200);
  const shop = await manage(client, '/explain/url?url=/contested&client=shop');
  assert.equal(shop.json.answer, 404);
  assert.match(shop.json.claims[0].because, /in no domain of the client/);
});

test('management: diagnostics are paged, and include conflicts, unknown types and missing views', async () => {
  await client.post('/ingest/v2/lost', { type: 'lostType', properties: {} }, { key: sourceKey });
  await savePage('clash-a', '/clash');
  await savePage('clash-b', '/clash');
  const found: { kind: string; entityId?: string; viewId?: string; message: string }[] = [];
  for (let after = ''; ; ) {
    const { status, json } = await manage(client, `/diagnostics?first=1${after}`);
    assert.equal(status, 200);
    found.push(...json.diagnostics);
    if (json.next === null) break;
    after = `&after=${encodeURIComponent(json.next)}`;
  }
  const clash = found.filter(({ kind, viewId: id }) => kind === 'urlClash' && id === viewIdOf('clash-a'));
  assert.equal(clash.length, 1);
  assert.ok(!found.some(({ kind, viewId: id }) => kind === 'urlClash' && id === viewIdOf('clash-b')));
  assert.equal((await manage(client, '/diagnostics?after=x')).status, 422);
});

test('management: the configuration is read with its keys as digests, and can be put back', async () => {
  const { json: before } = await manage(client, '/configuration');
  assert.deepEqual(Object.keys(before.documents).sort(), [
    'indexes/pages.json',
    'schemas/list.json',
    'schemas/member.json',
    'schemas/page.json',
    'tenant.json',
  ]);
  const all = JSON.stringify(before.documents);
  for (const key of [managementKey, readerKey, sourceKey, clientKey]) assert.ok(!all.includes(key));
  assert.match(before.documents['tenant.json'], /sha256:[0-9a-f]{64}/);
  assert.ok(Date.parse(before.appliedAt) <= Date.now());

  const same = await put(before.documents, `?expected=${before.digest}`);
  assert.deepEqual([same.status, same.json.digest], [200, before.digest]);

  const page = { ...(schemas.page as object), properties: { title: 'New {p.title}' } };
  const documents = { ...before.documents, 'schemas/page.json': JSON.stringify(page) };
  assert.equal((await put(documents, '?expected=other')).status, 409);
  await savePage('rebuilt', '/rebuilt');
  const changed = await put(documents, `?expected=${before.digest}`);
  assert.equal(changed.status, 200);
  await until('the rebuild is done', async () => {
    const { json } = await manage(client, `/jobs/${changed.json.job}`);
    return json.state === 'completed';
  });
  const served = await client.get('/v2?handle=h-rebuilt', { key: clientKey });
  assert.equal(served.json.views['h-rebuilt'].title, 'New rebuilt');
  const { json: after } = await manage(client, '/configuration');
  assert.equal(after.digest, changed.json.digest);
  assert.ok(after.appliedAt > before.appliedAt);
  assert.equal((await manage(client, '/jobs/rebuild-999')).status, 404);
  assert.equal((await manage(client, '/jobs/x')).status, 404);
});

test('management: an invalid configuration changes nothing, nor does one that removes a part with data', async () => {
  const { json: before } = await manage(client, '/configuration');
  const broken = await put({
    ...before.documents,
    'schemas/page.json': '{"triggers": {"pim": ["x"]}}',
    'x.txt': '',
  });
  assert.equal(broken.status, 422);
  assert.ok(broken.json.errors.length >= 3);
  assert.ok(
    broken.json.errors.every((text: string) => /^(schemas\/page\.json|x\.txt): /.test(text)),
    broken.text,
  );
  for (const body of [
    '{',
    [],
    {},
    { documents: [] },
    { documents: { 'tenant.json': 1 } },
    { documents: {} },
  ]) {
    const { status } = await configure(client, body);
    assert.equal(status, 422, JSON.stringify(body));
  }
  const { 'schemas/page.json': _gone, ...without } = before.documents;
  const refused = await put(without);
  assert.equal(refused.status, 409);
  assert.match(refused.json.errors[0], /schema page of tenant managed: \d+ views/);
  assert.equal(
    (await client.call('PUT', '/management/v1/configuration', { key: readerKey, body: {} })).status,
    403,
  );
  assert.equal((await manage(client, '/configuration')).json.digest, before.digest);
  const removed = await put(without, '?removals=true');
  assert.equal(removed.status, 200);
  await until('its views are gone', async () => {
    const { json } = await client.get('/v2?handle=h-rebuilt', { key: clientKey });
    return Object.keys(json.views).length === 0;
  });
  assert.equal((await put(before.documents)).status, 200);
});

function put(documents: Json, search?: string): Promise<Answer> {
  return configure(client, { documents }, search);
}
