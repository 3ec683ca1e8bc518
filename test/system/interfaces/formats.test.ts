import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { exchange } from '../../http/support/wire.ts';
import type { Answer, Client, RequestOptions } from '../support/client.ts';
import { untilVisible } from '../support/ledger.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const shopKey = 'client-key-of-the-shop-alone';

const settings: JsonObject = {
  domains: [
    { alias: 'site', hostnames: ['www.example.com', 'example.com', '*'] },
    { alias: 'shop', hostnames: ['shop.example.com', 'shop.example.org'] },
  ],
  environmentClients: [
    { name: 'website', environment: 'production', domains: ['site', 'shop'], apiKeys: [clientKey] },
    { name: 'shop', environment: 'production', domains: ['shop'], apiKeys: [shopKey] },
  ],
};

const schemas: Readonly<Record<string, Json>> = {
  page: {
    triggers: { cms: ['page'] },
    route: { url: '{url}', handles: ['{p.handle}', '{p.otherHandle}'] },
    properties: {
      title: '{p.title}',
      next: { type: 'reference', alias: 'page', originId: '{p.next}' },
      related: {
        type: 'array',
        input: '{p.related}',
        items: { type: 'reference', alias: 'page', originId: '{item}' },
      },
    },
  },
  raw: {
    triggers: { cms: ['page', 'raw'] },
    properties: { p: { '*': 'properties' }, redirects: { '*': 'redirects' }, parent: '{originParentId}' },
  },
};

let system: System;
let client: Client;
let otherFront: Client;

before(async () => {
  system = await sharedPlatform({
    ...siteFiles({ tenant: 'formats', schemas, settings }),
    ...siteFiles({ tenant: 'formats-other', schemas, keyPrefix: 'formats-other-' }),
  });
  client = system.client('web.1');
  otherFront = system.client('web.2');
});

/** Version token of the last write. */
let version = '';
/** Version tokens of earlier writes, with a key to read each, because entities of one test are in several partitions. */
const earlier: { readonly key: string; readonly version: string }[] = [];
const prefixOf = (tenant: string) => (tenant === 'formats' ? '' : `${tenant}-`);

interface Page {
  readonly type?: string;
  readonly url?: string;
  readonly redirects?: readonly string[];
  readonly properties?: JsonObject;
}

async function save(originId: string, page: Page, tenant = 'formats'): Promise<Answer> {
  const body = { type: 'page', properties: {}, ...page } as unknown as Json;
  const answer = await client.post(`/ingest/v2/${encodeURIComponent(originId)}`, body, {
    key: prefixOf(tenant) + sourceKey,
    headers: { 'X-Service-Force-Type': '1' },
  });
  assert.equal(answer.status, 200, answer.text);
  version = String(answer.headers['x-service-version']);
  earlier.push({ key: prefixOf(tenant) + clientKey, version });
  return answer;
}

async function remove(originId: string): Promise<void> {
  const answer = await client.delete(`/ingest/v2/${encodeURIComponent(originId)}`, { key: sourceKey });
  assert.equal(answer.status, 200, answer.text);
  version = String(answer.headers['x-service-version']);
}

/** Reads at the version of the writes, from the front that did not receive them. */
async function get(query: Record<string, string>, options: RequestOptions = {}): Promise<Answer> {
  for (const { key, version: token } of earlier.splice(0)) await untilVisible(otherFront, key, [token]);
  return await otherFront.get(`/v2?${new URLSearchParams(query)}`, {
    key: clientKey,
    version,
    ...options,
  });
}

async function titleAt(url: string, key = clientKey): Promise<string | null> {
  const { json } = await get({ url }, { key });
  return json.route?.title ?? null;
}

async function titleOf(handle: string): Promise<string | null> {
  const { json } = await get({ handle });
  return json.views[handle]?.title ?? null;
}

function viewId(originId: string, alias = 'page'): string {
  return `gid://Environment/${environmentId}/Source/${sourceId}/Entity/${originId}/View/${alias}`;
}

function titled(title: string, more: JsonObject = {}): { properties: JsonObject } {
  return { properties: { title, ...more } };
}

test('formats: of two claims the latest is served, and the previous one when it is dropped', async () => {
  await save('first', { url: '/claimed', ...titled('first', { handle: 'claimed' }) });
  assert.deepEqual([await titleAt('/claimed'), await titleOf('claimed')], ['first', 'first']);
  await save('second', { url: '/claimed/', ...titled('second', { handle: 'claimed' }) });
  assert.deepEqual([await titleAt('/claimed'), await titleOf('claimed')], ['second', 'second']);
  await save('first', { url: '/claimed', ...titled('first, changed', { handle: 'claimed' }) });
  assert.deepEqual(
    [await titleAt('/claimed'), await titleOf('claimed')],
    ['second', 'second'],
    'a later change makes no claim younger',
  );
  await save('second', { url: '/elsewhere', ...titled('second') });
  assert.deepEqual(
    [await titleAt('/claimed'), await titleOf('claimed')],
    ['first, changed', 'first, changed'],
  );
  await save('second', { url: '/claimed', ...titled('second again', { handle: 'claimed' }) });
  assert.deepEqual([await titleAt('/claimed'), await titleOf('claimed')], ['second again', 'second again']);
  await remove('second');
  assert.deepEqual(
    [await titleAt('/claimed'), await titleOf('claimed')],
    ['first, changed', 'first, changed'],
  );
  await save('first', { type: 'raw', url: '/claimed', ...titled('no longer a page') });
  assert.deepEqual([await titleAt('/claimed'), await titleOf('claimed')], [null, null]);
});

test('formats: a claim that moves between the two handles of its entity keeps its age', async () => {
  await save('older', titled('older', { handle: 'moving' }));
  await save('younger', titled('younger', { handle: 'moving' }));
  await save('older', titled('older', { otherHandle: 'moving' }));
  assert.equal(await titleOf('moving'), 'younger');
});

test('formats: a page wins over a redirect, and the redirect is served again when the page is removed', async () => {
  await save('target', { url: '/target', redirects: ['/moved', '/target'], ...titled('target') });
  const moved = async () => {
    const { json } = await get({ url: '/moved' });
    return [json.meta.status, json.meta.redirect, json.route?.title ?? null];
  };
  assert.deepEqual(await moved(), [301, '/target', null]);
  await save('page', { url: '/moved', ...titled('page') });
  assert.deepEqual(await moved(), [200, null, 'page']);
  await save('target', { url: '/target/new', redirects: ['/moved'], ...titled('target') });
  assert.deepEqual(await moved(), [200, null, 'page'], 'a page wins over a redirect, whichever is newer');
  await remove('page');
  assert.deepEqual(await moved(), [301, '/target/new', null]);
  await save('target', { url: '/target/new', ...titled('target') });
  assert.deepEqual(await moved(), [404, null, null]);
});

test('formats: relative routes answer on every hostname of a client, absolute ones on those of their domain', async () => {
  await save('relative', { url: '/hosts/relative', ...titled('relative') });
  await save('shop', { url: 'https://Shop.Example.com/hosts/own', ...titled('shop') });
  await save('site', { url: 'http://www.example.com/hosts/own', ...titled('site') });
  for (const host of ['http://www.example.com', 'https://shop.example.org', 'https://any.example.net', '']) {
    assert.equal(await titleAt(`${host}/hosts/relative`), 'relative', host);
  }
  assert.equal(await titleAt('https://shop.example.org/hosts/own'), 'shop');
  assert.equal(await titleAt('https://EXAMPLE.com/hosts/own/?a=1#b'), 'site');
  assert.equal(
    await titleAt('https://any.example.net/hosts/own'),
    'site',
    '`*` is any host without a domain',
  );
  assert.equal(await titleAt('/hosts/own'), 'site', 'and relative URLs');
  assert.equal(await titleAt('https://shop.example.com/hosts/own', shopKey), 'shop');
  assert.equal(await titleAt('https://shop.example.com/hosts/relative', shopKey), 'relative');
  assert.equal(
    await titleAt('https://www.example.com/hosts/own', shopKey),
    null,
    'not a domain of this client',
  );
});

test('formats: a URL is found in any encoding', async () => {
  await save('written', { url: '/Straße/a b/%7Euser', ...titled('written') });
  for (const url of [
    '/Straße/a b/~user',
    '/Stra%C3%9Fe/a%20b/%7euser/',
    '/Stra%c3%9fe/a%20b/~user//',
    '/Straße/a b/~user?query=1',
    '/Straße/a b/~user#fragment',
  ]) {
    assert.equal(await titleAt(url), 'written', url);
  }
  assert.equal(await titleAt('/straße/a b/~user'), null, 'the case of a path matters');
});

test('formats: references follow any chain of views; a cycle is null, a missing one is listed with its path', async () => {
  await save('a', titled('A', { next: 'b', related: ['c', null, '', 'lost'] }));
  await save('b', titled('B', { next: 'c' }));
  await save('c', titled('C', { next: 'a', related: ['gone'] }));
  const c = (next: Json) => ({ title: 'C', next, related: [null] });
  const { json } = await get({ id: viewId('a') });
  assert.deepEqual(json.views[viewId('a')], {
    title: 'A',
    next: { title: 'B', next: c(null), related: [] },
    related: [c(null), null, null, null],
  });
  const at = `views['${viewId('a')}']`;
  assert.deepEqual(json.meta.missingViewReferences, [
    { path: `${at}.next.next.related[0]`, viewId: viewId('gone') },
    { path: `${at}.related[0].related[0]`, viewId: viewId('gone') },
    { path: `${at}.related[3]`, viewId: viewId('lost') },
  ]);
  await save('gone', titled('present after all'));
  const { json: later } = await get({ id: viewId('a') });
  assert.equal(later.views[viewId('a')].related[0].related[0].title, 'present after all');
  assert.equal(later.meta.missingViewReferences.length, 1);
});

test('formats: an answer with more than 10,000 references is rejected, and one with 10,000 is not', async () => {
  await save('leaf', titled('leaf'));
  const leaves = Array.from({ length: 99 }, () => 'leaf');
  await save('branch', titled('branch', { related: leaves }));
  await save('tree', titled('tree', { related: Array.from({ length: 100 }, () => 'branch') }));
  assert.equal((await get({ id: viewId('tree') })).status, 200);
  await save('tree', titled('tree', { next: 'leaf', related: Array.from({ length: 100 }, () => 'branch') }));
  const refused = await get({ id: viewId('tree') });
  assert.deepEqual([refused.status, refused.json.meta], [422, { status: 422 }]);
});

test('formats: a view requested twice is delivered under the first of its keys, or under each', async () => {
  await save('keys', titled('keys', { handle: 'one', otherHandle: 'two' }));
  const query = `/v2?handle=two&id=${encodeURIComponent(viewId('keys'))}&handle=one&handle=none`;
  const headers = { 'X-Enterspeed-Min-Version': version };
  const once = await otherFront.get(query, { key: clientKey, headers });
  assert.deepEqual(Object.keys(once.json.views), [viewId('keys')]);
  const each = await otherFront.get(`${query}&includeDuplicateViews=true`, { key: clientKey, headers });
  assert.deepEqual(Object.keys(each.json.views), [viewId('keys'), 'two', 'one']);
});

test('formats: an ETag is valid until the content of the answer has changed, including referenced views', async () => {
  await save('card', titled('card'));
  await save('holder', { url: '/etag', ...titled('holder', { next: 'card' }) });
  const first = await get({ url: '/etag' });
  const etag = String(first.headers.etag);
  const same = await get({ url: '/etag' }, { headers: { 'If-None-Match': `"other", ${etag}` } });
  assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', etag]);
  await save('card', titled('card'));
  assert.equal((await get({ url: '/etag' }, { headers: { 'If-None-Match': etag } })).status, 304);
  await save('card', titled('another card'));
  const changed = await get({ url: '/etag' }, { headers: { 'If-None-Match': etag } });
  assert.deepEqual([changed.status, changed.json.route.next.title], [200, 'another card']);
});

test('formats: a body over 1 KiB is compressed as requested', async () => {
  await save('long', titled('long '.repeat(1_000), { handle: 'long' }));
  const plain = await get({ handle: 'long' });
  assert.equal(plain.headers['content-encoding'], undefined);
  for (const coding of ['br', 'gzip']) {
    const answer = await get({ handle: 'long' }, { headers: { 'Accept-Encoding': coding } });
    assert.equal(answer.headers['content-encoding'], coding);
    assert.ok(Number(answer.headers['content-length']) < 500);
    assert.equal(answer.text, plain.text);
  }
});

test('formats: strings and names are delivered as they were sent', async () => {
  const body =
    '{"type":"page","properties":{"__proto__":{"constructor":1},"constructor":"c","toString":null,' +
    '"text":" A\\u030a \\u00c5 \\ud83d\\ude00 \\u0000 ","number":0.1,"deep":{"a-b":{"":[1.5e300,-0.5]}}}}';
  const originId = ' a/b?c=%41 é\u0301 ';
  const answer = await client.call('POST', `/ingest/v2/${encodeURIComponent(originId)}`, {
    key: sourceKey,
    body,
  });
  assert.equal(answer.status, 200, answer.text);
  version = String(answer.headers['x-service-version']);
  const { text, json } = await get({ id: viewId(originId, 'raw') });
  const sent = JSON.parse(body).properties;
  assert.deepEqual(JSON.parse(text).views[viewId(originId, 'raw')].p, sent);
  assert.ok(Object.hasOwn(json.views[viewId(originId, 'raw')].p, '__proto__'));
});

test('formats: headers are read under every prefix, and a Type header makes the body raw', async () => {
  const answer = await client.post(
    '/ingest/v2/by-header',
    { title: 'raw' },
    {
      key: sourceKey,
      headers: {
        'X-Enterspeed-Type': 'page',
        'X-Service-Url': '/by-header',
        'x-enterspeed-originparentid': 'parent',
        'X-SERVICE-REDIRECTS': ' /by-header/1 ,/by-header/2',
      },
    },
  );
  version = String(answer.headers['x-service-version']);
  assert.equal(await titleAt('/by-header'), 'raw');
  const { json } = await get({ url: '/by-header/2', id: viewId('by-header', 'raw') });
  assert.deepEqual([json.meta.status, json.meta.redirect, json.route], [301, '/by-header', null]);
  assert.deepEqual(json.views[viewId('by-header', 'raw')], {
    p: { title: 'raw' },
    redirects: ['/by-header/1', '/by-header/2'],
    parent: 'parent',
  });
});

test('formats: a type changes only with Force-Type, and the outputs of the old type are removed', async () => {
  await save('typed', { url: '/typed', ...titled('typed', { handle: 'typed' }) });
  const body = { type: 'raw', properties: { title: 'typed' } };
  const refused = await client.post('/ingest/v2/typed', body, { key: sourceKey });
  assert.deepEqual([refused.status, refused.json.errorCode], [422, 's-1001']);
  assert.match(refused.json.errors.type, /Force-Type/);
  assert.equal(await titleAt('/typed'), 'typed');
  const bulk = await client.post('/ingest/v2', [{ originId: 'typed', ...body }], {
    key: sourceKey,
    headers: { 'X-Enterspeed-Force-Type': 'TRUE' },
  });
  assert.deepEqual(
    [bulk.json.changedSourceEntities, bulk.json.ingestMetadata.forceTypeOverwrite],
    [['typed'], true],
  );
  version = String(bulk.headers['x-service-version']);
  const { json } = await get({ url: '/typed', handle: 'typed', id: viewId('typed') });
  assert.deepEqual([json.meta.status, json.route, json.views], [404, null, {}]);
});

test('formats: updatedAt changes only with a change, and an unchanged entity is reported as such', async () => {
  await save('timed', { url: '/timed', ...titled('timed', { deep: { a: 1, b: 2 } }) });
  const at = async (): Promise<string> => {
    const { json } = await otherFront.get('/routes/v1?first=500', {
      key: clientKey,
      headers: { 'X-Service-Min-Version': version },
    });
    return json.results.find(({ url }: { url: string }) => url === '/timed').updatedAt;
  };
  const first = await at();
  const again = await save('timed', { url: '/timed', ...titled('timed', { deep: { b: 2, a: 1 } }) });
  assert.equal(again.json.message, 'Entity is unchanged');
  assert.equal(await at(), first);
  const changed = await save('timed', { url: '/timed', ...titled('timed', { deep: { a: 1, b: 3 } }) });
  assert.equal(changed.json.message, 'Processing of the entity has begun');
  assert.ok((await at()) > first);
});

test('formats: routes are listed once each in code-point order, in both directions, with pages before redirects', async () => {
  const urls = Array.from({ length: 230 }, (_, n) => `/list/${n % 2 === 0 ? 'ü' : 'z'}${n}`);
  const entities = urls.map((url, n) => ({
    originId: `listed${n}`,
    type: 'page',
    url,
    redirects: [`/list-redirect/${n}`, '/list/z1'],
    properties: {},
  }));
  for (let at = 0; at < entities.length; at += 50) {
    const body = entities.slice(at, at + 50) as unknown as Json;
    const answer = await client.post('/ingest/v2', body, { key: sourceKey });
    await untilVisible(otherFront, clientKey, [String(answer.headers['x-service-version'])]);
  }
  const pagesOf = async (parameter: string): Promise<{ url: string; redirect: string | null }[]> => {
    const routes: { url: string; redirect: string | null }[] = [];
    let cursor = '';
    for (;;) {
      const { json } = await otherFront.get(`/routes/v1?${parameter}=100${cursor}`, { key: clientKey });
      routes.push(...json.results);
      if (!json.pageInfo.hasNextPage) {
        assert.equal(routes.length, json.total);
        return routes;
      }
      cursor = `&after=${encodeURIComponent(json.pageInfo.endCursor)}`;
    }
  };
  const ascending = await pagesOf('first');
  assert.deepEqual(await pagesOf('last'), [...ascending].reverse());
  const listed = ascending.map(({ url }) => url);
  const codePoints = (text: string) =>
    [...text].map((char) => String(char.codePointAt(0)).padStart(7, '0')).join();
  assert.deepEqual(
    listed,
    [...new Set(listed)].sort((a, b) => (codePoints(a) < codePoints(b) ? -1 : 1)),
  );
  assert.ok(urls.every((url) => listed.includes(url)));
  assert.equal(ascending.find(({ url }) => url === '/list-redirect/7')?.redirect, '/list/z7');
  assert.equal(ascending.find(({ url }) => url === '/list/z1')?.redirect, null, 'a page wins');
});

test('formats: tenants with the same ids, handles and URLs never see each other', async () => {
  const page = (title: string): Page => ({
    url: '/same',
    redirects: ['/was'],
    ...titled(title, { handle: 'same' }),
  });
  await save('same', page('formats-other'), 'formats-other');
  const otherVersion = version;
  await save('same', page('formats'));
  const read = (key: string, token: string) =>
    get(
      { url: '/same', handle: 'same', id: viewId('same') },
      { key, headers: { 'X-Service-Min-Version': token } },
    );
  assert.equal((await read(clientKey, version)).json.route.title, 'formats');
  assert.equal((await read(`formats-other-${clientKey}`, otherVersion)).json.route.title, 'formats-other');
  await remove('same');
  assert.equal((await read(clientKey, version)).json.route, null);
  const kept = await read(`formats-other-${clientKey}`, otherVersion);
  assert.deepEqual(
    [kept.json.route.title, Object.keys(kept.json.views)],
    ['formats-other', [viewId('same')]],
  );
  const { json: routes } = await otherFront.get('/routes/v1?first=100', {
    key: `formats-other-${clientKey}`,
  });
  assert.deepEqual(
    routes.results.map(({ url }: { url: string }) => url),
    ['/same', '/was'],
  );
  for (const [type, total] of Object.entries({ page: 1, raw: null })) {
    const { json } = await otherFront.post(
      `/v1/sourceGroupAlias/cms/type/${type}`,
      {},
      { key: `formats-other-${clientKey}` },
    );
    assert.equal(json.totalResults ?? null, total, type);
  }
  const other = await client.delete('/ingest/v2/card', { key: `formats-other-${sourceKey}` });
  assert.equal(other.status, 404);
});

test('formats: a key of the wrong kind is 403, an unknown or missing one is 401', async () => {
  for (const [key, status] of [
    [sourceKey, 403],
    ['nonsense', 401],
    [undefined, 401],
  ] as const) {
    const access = key === undefined ? {} : { key };
    assert.equal((await client.get('/v2?url=/timed', access)).status, status);
    assert.equal((await client.get('/routes/v2', access)).status, status);
    assert.equal((await client.post('/v1/nothing', {}, access)).status, status);
  }
  assert.equal((await client.post('/ingest/v2', [], { key: clientKey })).status, 403);
});

test('formats: an entity of 5,242,880 bytes is accepted, one byte more is 413; so is a bulk body over 200 MB, before it is sent', async () => {
  const body = (bytes: number): string => {
    const [head, tail] = ['{"type":"raw","properties":{"text":"', '"}}'];
    return `${head}${'x'.repeat(bytes - head.length - tail.length)}${tail}`;
  };
  const fits = await client.call('POST', '/ingest/v2/large', { key: sourceKey, body: body(5_242_880) });
  assert.equal(fits.status, 200, fits.text);
  const tooLarge = await client.call('POST', '/ingest/v2/large', { key: sourceKey, body: body(5_242_881) });
  assert.deepEqual([tooLarge.status, tooLarge.json.status, tooLarge.json.errorCode], [413, 413, 's-1007']);
  version = String(fits.headers['x-service-version']);
  const { json } = await get({ id: viewId('large', 'raw') });
  assert.ok(json.views[viewId('large', 'raw')].p.text.length > 5_200_000);
  await remove('large');

  const head = (bytes: number) =>
    `POST /ingest/v2 HTTP/1.1\r\nHost: front\r\nX-Api-Key: ${sourceKey}\r\nContent-Length: ${bytes}\r\n\r\n`;
  const port = Number(new URL(system.url()).port);
  const { text } = await exchange(port, [head(209_715_201)]);
  assert.ok(text.startsWith('HTTP/1.1 413 ') && text.includes('"errorCode":"s-1007"'), text);
});

test('formats: invalid JSON values are rejected with an error code, and nothing is stored', async () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const bodies: [string, number][] = [
    [`{"type":"raw","properties":{"a":${deep(99)}}}`, 200],
    [`{"type":"raw","properties":{"a":${deep(100)}}}`, 422],
    [`{"type":"raw","properties":{"a":${deep(50_000)}}}`, 422],
    ['{"type":"raw","properties":{"a":1e400}}', 422],
    ['{"type":"raw","properties":{"a":"\\ud800"}}', 422],
    ['{"type":"raw","properties":{"1a":1}}', 422],
    ['{"type":"raw","properties":{"__":1}}', 422],
    ['{"type":"raw","properties":{"a b":1}}', 422],
    ['{"type":"raw","properties":{"_a1":1}}', 200],
    ['{"type":"raw","properties":[]}', 422],
    ['{"type":"raw"}', 422],
    ['{"properties":{}}', 422],
    ['{"type":"raw","properties":{},"url":"no-slash"}', 422],
    ['nonsense', 422],
    ['', 422],
  ];
  for (const [index, [body, status]] of bodies.entries()) {
    const originId = `odd-${index}`;
    const answer = await client.call('POST', `/ingest/v2/${originId}`, { key: sourceKey, body });
    assert.equal(answer.status, status, `${body.slice(0, 60)}: ${answer.text.slice(0, 300)}`);
    if (status === 422) assert.equal(answer.json.errorCode, 's-1001');
    const gone = await client.delete(`/ingest/v2/${originId}`, { key: sourceKey });
    assert.equal(gone.status, status === 200 ? 200 : 404, body.slice(0, 60));
  }
});
