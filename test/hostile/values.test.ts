/** Values with a special meaning in some program: stored, delivered, listed and found as they were sent. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import type { Client } from '../system/support/client.ts';
import { sharedPlatform } from '../system/support/processes/shared-platform.ts';
import type { System } from '../system/support/processes/system.ts';
import { Canary } from './support/canary.ts';
import { apiKeys, hostileSite, viewIdOf } from './support/site.ts';
import { awkwardTexts, prototypeNames } from './support/words.ts';

let system: System;
let client: Client;
let canary: Canary;
before(async () => {
  system = await sharedPlatform(hostileSite('hostile-values'));
  client = system.client();
  canary = await Canary.hatch(system);
});
after(() => canary.sings());

interface Entity {
  readonly originId: string;
  readonly type: string;
  readonly url?: string;
  readonly redirects?: readonly string[];
  readonly properties: JsonObject;
}

let seen: Record<string, string> = {};

async function save(entities: readonly Entity[]): Promise<void> {
  for (let at = 0; at < entities.length; at += 50) {
    const body = entities.slice(at, at + 50) as unknown as Json;
    const { status, json, headers, text } = await client.post('/ingest/v2', body, { key: apiKeys.source });
    assert.equal(status, 200, text);
    assert.deepEqual(json.errors, {});
    seen = { 'X-Service-Min-Version': String(headers['x-service-version']) };
  }
}

const read = () => ({ key: apiKeys.client, headers: seen });
const deliver = (body: Json) => postPatiently('/v2', body);
const query = (path: string, body: Json) => postPatiently(path, body);

/** Retries after a 503, because a busy machine may need longer than a request waits for a version. */
async function postPatiently(path: string, body: Json): ReturnType<Client['post']> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await client.post(path, body, read());
    if (answer.status !== 503 || attempt === 6) return answer;
  }
}

/** No longer than the maximum length of an originId. */
const originIds = awkwardTexts.filter(({ length }) => length <= 1024);

test('values: every awkward originId and handle identifies one view, one route and one item', async () => {
  const entities = originIds.map((originId, number) => ({
    originId,
    type: 'page',
    url: `/awkward/${number}`,
    properties: { title: `n${number}`, handle: `handle ${originId}`, value: number },
  }));
  await save(entities);
  const ids = originIds.map((originId) => viewIdOf(originId));
  const byId = await deliver({ ids });
  const byHandle = await deliver({ handles: originIds.map((originId) => `handle ${originId}`) });
  const items = await query('/v1/things', { pagination: { pageSize: 1000 } });
  const found = new Map<string, JsonObject>(
    items.json.results.map((item: JsonObject) => [item._originId as string, item]),
  );
  for (const [number, originId] of originIds.entries()) {
    assert.equal(byId.json.views[ids[number] ?? '']?.title, `n${number}`, originId);
    assert.equal(byHandle.json.views[`handle ${originId}`]?.title, `n${number}`, originId);
    assert.equal(found.get(originId)?.title, `n${number}`, originId);
    const filters = { and: [{ field: '_originId', operator: 'equals', value: originId }] };
    const one = await query('/v1/sourceGroupAlias/cms/type/page', { filters });
    assert.deepEqual([one.json.totalResults, one.json.results[0]._originId], [1, originId], originId);
  }
  assert.equal(Object.keys(byId.json.views).length, originIds.length);
});

test('values: an awkward originId in a path identifies its entity, and deleting it deletes nothing else', async () => {
  // RFC 3986 gives these two segments another meaning, and every client removes them.
  const inPaths = originIds.filter((originId) => originId !== '..' && originId !== '.');
  await save([{ originId: 'stays', type: 'page', properties: { title: 'stays' } }]);
  const pathOf = (originId: string) => `/ingest/v2/${encodeURIComponent(originId)}`;
  const note = ({ headers }: { headers: Record<string, unknown> }) => {
    seen = { 'X-Service-Min-Version': String(headers['x-service-version']) };
  };
  for (const originId of inPaths) {
    const body = { type: 'page', properties: { title: `path ${originId}` } };
    const saved = await client.post(pathOf(originId), body, { key: apiKeys.source });
    assert.equal(saved.status, 200, originId);
    note(saved);
  }
  const whole = await deliver({ ids: inPaths.map((originId) => viewIdOf(originId)) });
  for (const originId of inPaths) {
    assert.equal(whole.json.views[viewIdOf(originId)]?.title, `path ${originId}`, originId);
  }
  for (const originId of inPaths) {
    const deleted = await client.delete(pathOf(originId), { key: apiKeys.source });
    assert.equal(deleted.status, 200, originId);
    assert.equal((await client.delete(pathOf(originId), { key: apiKeys.source })).status, 404, originId);
    note(deleted);
  }
  const { json } = await deliver({
    ids: [viewIdOf('stays'), ...inPaths.map((originId) => viewIdOf(originId))],
  });
  assert.deepEqual(Object.keys(json.views), [viewIdOf('stays')]);
});

test('values: every awkward URL leads to its page, is listed as it was sent, and works as a redirect', async () => {
  // Characters that end the path of a URL make it the same page as its prefix.
  const texts = awkwardTexts.filter(
    (text) => text.length < 2000 && !/[?#]|^\.\.$|^\/|\/$/.test(text) && text !== '%',
  );
  const entities = texts.map((text, number) => ({
    originId: `url-${number}`,
    type: 'page',
    url: `/u/${number}/${text}`,
    redirects: [`/r/${number}/${text}`],
    properties: { title: `u${number}` },
  }));
  await save(entities);
  const listed = new Map<string, string | null>();
  for (let token = ''; ; ) {
    const { json } = await client.get(`/routes/v2?continuationToken=${encodeURIComponent(token)}`, read());
    for (const { url, redirect } of json.results) listed.set(url, redirect);
    if (json.continuationToken === null) break;
    token = json.continuationToken;
  }
  for (const [number, { url, redirects }] of entities.entries()) {
    const page = await client.get(`/v2?url=${encodeURIComponent(url)}`, read());
    assert.equal(page.json.route?.title, `u${number}`, url);
    const moved = await client.get(`/v2?url=${encodeURIComponent(redirects[0] ?? '')}`, read());
    assert.deepEqual([moved.json.meta.status, moved.json.meta.redirect], [301, url]);
    assert.equal(listed.get(url), null, url);
    assert.equal(listed.get(redirects[0] ?? ''), url);
  }
});

test('values: names on Object.prototype are ordinary names of properties, types, fields and facets', async () => {
  const inner = JSON.parse(`{${prototypeNames.map((name) => `"${name}":{"x":1}`).join(',')}}`) as JsonObject;
  const outer = prototypeNames.map((name) => `"${name}":"own ${name}"`).join(',');
  const body = `{"type":"__proto__","properties":{"title":"proto","nested":${JSON.stringify(inner)},${outer}}}`;
  const saved = await client.call('POST', '/ingest/v2/proto-1', { key: apiKeys.source, body });
  assert.equal(saved.status, 200, saved.text);
  seen = { 'X-Service-Min-Version': String(saved.headers['x-service-version']) };
  const delivered = await deliver({ ids: [viewIdOf('proto-1')] });
  assert.ok(delivered.text.includes(`"all":{"title":"proto","nested":${JSON.stringify(inner)},${outer}}`));

  const path = '/v1/sourceGroupAlias/cms/type/__proto__';
  for (const field of prototypeNames) {
    const value = `own ${field}`;
    const { json, text } = await query(path, {
      filters: { and: [{ field, operator: 'equals', value }] },
      search: { field, value },
      facets: [{ field, name: '__proto__' }],
      sort: [{ field }],
    });
    assert.equal(json.totalResults, 1, text);
    assert.ok(text.includes(`"${field}":"${value}"`), field);
    const facet = { name: '__proto__', field, groups: [{ value, count: 1 }], isValid: true };
    assert.deepEqual(json.facets, [facet], field);
  }
  const absent = await query(path, {
    filters: { and: [{ field: 'isPrototypeOf', operator: 'notEquals', value: null }] },
  });
  assert.equal(absent.json.totalResults, 0);
  for (const field of prototypeNames) {
    const refused = await query('/v1/things', {
      sort: [{ field }],
      facets: [{ field }],
      search: { field, value: 'x' },
    });
    assert.deepEqual([refused.status, refused.json.message], [400, 'Query is not valid'], field);
  }
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test('values: no alias, group or type is found on a prototype', async () => {
  for (const name of prototypeNames) {
    const paths = [
      `/v1/${name}`,
      `/v1/sourceGroupAlias/${name}/type/page`,
      `/v1/sourceGroupAlias/cms/type/not${name}`,
    ];
    for (const path of paths) assert.equal((await query(path, {})).status, 404, path);
    const aliases = await query('/v1/things', { aliases: [name] });
    assert.equal(aliases.status, name === 'constructor' ? 200 : 400, name);
  }
  await save([
    { originId: 'asks', type: 'page', properties: { title: 'asks', alias: '__proto__', related: 'proto-1' } },
  ]);
  const { json } = await deliver({ ids: [viewIdOf('asks')] });
  assert.equal(json.views[viewIdOf('asks')].related, null);
  const [missing] = json.meta.missingViewReferences;
  assert.equal(missing.viewId, viewIdOf('proto-1', '__proto__'));
});

test('values: values in the placeholders of a lookup filter cannot change the filter', async () => {
  const titles = [
    "x' or type eq 'page",
    "' or '' eq '",
    "') or (originId ne '",
    'null',
    'true',
    "{p.title}') or ('1' eq '1",
    "\u0000' or 'a' eq 'a",
  ];
  const victims = ['one', 'two'].map((name) => ({
    originId: `victim-${name}`,
    type: 'page',
    properties: { title: `secret ${name}`, handle: `secret ${name}`, ids: [`victim-${name}`] },
  }));
  const attackers = titles.map((title, number) => ({
    originId: `attacker-${number}`,
    type: 'page',
    properties: {
      title,
      handle: title,
      ids: [title, `attacker-${number}`],
      top: "5' or true",
      pattern: '(a+)+$',
    },
  }));
  await save([...victims, ...attackers]);
  for (const { originId } of attackers) {
    const { json } = await deliver({ ids: [viewIdOf(originId)] });
    const { found, filtered } = json.views[viewIdOf(originId)];
    assert.deepEqual([found, filtered], [[originId], [originId]]);
  }
});

test('values: tokens of another tenant, index or query are rejected', async () => {
  const numbers = Array.from({ length: 200 }, (_, number) => number);
  await save(
    numbers.map((number) => ({
      originId: `many-${number}`,
      type: 'page',
      url: `/many/${number}`,
      properties: { title: 'many', value: number },
    })),
  );
  const own = { key: apiKeys.client, headers: seen };
  const other = { key: apiKeys.canaryClient };
  const first = await query('/v1/things', { pagination: { pageSize: 5 } });
  const pagination = { pageSize: 5, nextPageToken: first.json.nextPageToken };
  assert.equal((await client.post('/v1/things', { pagination }, own)).status, 200);
  const strangers: [string, Json, object][] = [
    ['/v1/things', { pagination }, other],
    ['/v1/things', { pagination, sort: [{ field: 'title' }] }, own],
    [
      '/v1/things',
      { pagination, filters: { and: [{ field: 'title', operator: 'equals', value: 'x' }] } },
      own,
    ],
    ['/v1/sourceGroupAlias/cms/type/page', { pagination }, own],
    ['/v1/sourceGroupAlias/cms/type/__proto__', { pagination }, own],
  ];
  for (const [path, body, options] of strangers) {
    const { status, json } = await client.post(path, body, options);
    assert.deepEqual([status, json.errors?.length], [400, 1], `${path} ${JSON.stringify(body)}`);
    assert.match(json.errors[0], /Invalid nextPageToken/);
  }
  const routes = await client.get('/routes/v1?first=100', own);
  const cursor = encodeURIComponent(routes.json.pageInfo.endCursor);
  assert.equal((await client.get(`/routes/v1?first=100&after=${cursor}`, own)).status, 200);
  assert.equal((await client.get(`/routes/v1?first=100&after=${cursor}`, other)).status, 422);
  assert.equal((await client.get(`/routes/v2?continuationToken=${cursor}`, own)).status, 422);
});

test('values: a version token of another tenant reveals nothing, and no read waits for missing data', async () => {
  const headers = { 'X-Service-Min-Version': seen['X-Service-Min-Version'] ?? '' };
  const { status, json } = await client.post(
    '/v2',
    { ids: [viewIdOf('many-1')] },
    { key: apiKeys.canaryClient, headers },
  );
  assert.deepEqual([status, json.views], [200, {}]);
});

test('values: an invalid version token is reported in the wording of each interface', async () => {
  const options = { key: apiKeys.client, headers: { 'X-Service-Min-Version': 'v1-0.A' } };
  for (const path of ['/v1/things', '/v1/sourceGroupAlias/cms/type/page']) {
    const { status, json } = await client.post(path, {}, options);
    assert.deepEqual([status, json.message, json.errors.length], [400, 'Query is not valid', 1], path);
  }
  const multi = await client.post('/v1/source', [], options);
  assert.deepEqual([multi.status, multi.json[0].message], [400, 'Query is not valid']);
  for (const path of ['/v2?handle=x', '/routes/v1?first=100', '/routes/v2']) {
    assert.equal((await client.get(path, options)).status, 422, path);
  }
});
