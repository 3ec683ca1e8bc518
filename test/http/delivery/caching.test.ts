/** The headers of delivery for caches in front of the platform. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { normalizeUrl } from '../../../src/config/urls/url.ts';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { answerTags, changeTags } from '../../../src/store/derived/subjects.ts';
import { claimField } from '../../../src/store/keys.ts';
import { type CallOptions, startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView, viewIdOf } from '../support/seed.ts';
import { environmentId, sourceId } from '../support/site.ts';

const scope = { tenant: 'one', environmentId };
const setting = 'public, s-maxage=31536000';
const settings = {
  plain: {},
  tagged: { cacheControl: setting, cacheTags: 'Cache-Tag' },
  spaced: { cacheControl: 'max-age=5', cacheTags: 'Surrogate-Key' },
  lower: { cacheTags: 'xkey' },
  own: { cacheTags: 'X-My-Tags' },
} as const;
type ClientName = keyof typeof settings;

const outcome = loadConfiguration(
  new Map([
    [
      'tenants/one/tenant.json',
      JSON.stringify({
        environments: [{ id: environmentId, alias: 'production' }],
        sourceGroups: [
          {
            alias: 'cms',
            sources: [{ id: sourceId, environments: ['production'], apiKeys: ['source'] }],
          },
        ],
        environmentClients: Object.entries(settings).map(([name, caching]) => ({
          name,
          environment: 'production',
          apiKeys: [name],
          ...caching,
        })),
        managementClients: [{ name: 'admin', apiKeys: ['admin'] }],
      }),
    ],
  ]),
);
if (!outcome.ok) throw new Error(JSON.stringify(outcome.issues));

const cache = new AnswerCache(16 * 1024 * 1024);
const manyReferences = 1000;
let front: TestFront;
before(async () => {
  front = await startFront({
    services: {
      cache,
      configuration: { loaded: true, current: outcome.configuration, layouts: LayoutStates.none },
    },
    openRateLimit: 5,
  });
  const { store } = front;
  await putView(store, 'a', 'A', { next: 'b', gone: 'missing' });
  await putView(store, 'b', 'B', { leaf: 'c', back: 'a' });
  await putView(store, 'c', 'C');
  await putView(store, 'large', 'x'.repeat(2000));
  const many = Array.from({ length: manyReferences }, (_, at) => [`r${at}`, `none-${at}`]);
  await putView(store, 'many', 'M', Object.fromEntries(many));
  await putClaim(store, 'a', { url: '/Straße/a' });
  await putClaim(store, 'a', { url: '/old', redirect: '/Straße/a' });
  await putClaim(store, 'c', { handle: 'c' });
});
after(() => front.stop());

const get = (client: ClientName, path: string, options: CallOptions = {}) =>
  front.call('GET', path, { key: client, ...options });
const view = (originId: string) => ({ sourceId, originId, alias: 'page' });
const urlField = (url: string) => claimField.url(normalizeUrl(url)?.path ?? '');

test('caching: Cache-Control is the setting for 200 and 301, no-store for 404 and errors, otherwise private', async () => {
  const id = encodeURIComponent(viewIdOf('c'));
  const kept = ['/v2?url=/Straße/a', '/v2?url=/old', '/v2?handle=c', '/v2?handle=none', `/v1?id=${id}`];
  for (const [name, control] of [
    ['plain', 'private, no-cache'],
    ['lower', 'private, no-cache'],
    ['tagged', setting],
    ['spaced', 'max-age=5'],
  ] as const) {
    for (const path of [...kept, ...kept]) {
      const { headers, status } = await get(name, path);
      assert.deepEqual([status, headers.get('cache-control')], [200, control], `${name} ${path}`);
    }
    const posted = await front.call('POST', '/v2', { key: name, body: { handles: ['c'] } });
    assert.equal(posted.headers.get('cache-control'), control);
    for (const path of ['/v2?url=/none', '/v1/?url=/none&handle=c', '/v2', '/v1?url=/a&url=/b']) {
      assert.equal((await get(name, path)).headers.get('cache-control'), 'no-store', `${name} ${path}`);
    }
    const broken = await front.call('POST', '/v2', { key: name, body: '{' });
    assert.deepEqual([broken.status, broken.headers.get('cache-control')], [422, 'no-store']);
  }
});

test('caching: no other response may be stored', async () => {
  for (const [expected, method, path, key, options] of [
    [200, 'GET', '/routes/v1?first=100', 'plain', {}],
    [200, 'HEAD', '/routes/v1?first=100', 'tagged', {}],
    [200, 'GET', '/routes/v2', 'tagged', {}],
    [200, 'GET', '/routes/v2?format=sitemap', 'tagged', {}],
    [422, 'GET', '/routes/v1', 'plain', {}],
    [400, 'POST', '/v1/none', 'plain', { body: '{' }],
    [200, 'GET', '/changes/v1?since=now', 'plain', {}],
    [200, 'GET', '/management/v1/tenant', 'admin', {}],
    [404, 'GET', '/management/v1/jobs/none', 'admin', {}],
    [200, 'GET', '/ingest/entities', 'source', {}],
    [200, 'GET', '/health/live', undefined, {}],
    [404, 'GET', '/nowhere', undefined, {}],
    [405, 'PATCH', '/routes/v1', undefined, {}],
    [401, 'GET', '/routes/v2', undefined, {}],
  ] as const) {
    const { status, headers } = await front.call(method, path, { ...(key && { key }), ...options });
    const what = `${method} ${path}`;
    assert.deepEqual([status, headers.get('cache-control')], [expected, 'no-store'], what);
  }
});

test('caching: errors before the handler are not stored either', async () => {
  for (const [key, status] of [
    ['source', 403],
    ['nobody', 401],
  ] as const) {
    const { status: got, headers } = await front.call('GET', '/v2?handle=c', { key });
    assert.deepEqual([got, headers.get('cache-control')], [status, 'no-store']);
  }
  for (;;) {
    const { status, headers } = await front.call('GET', '/v2?handle=c', { key: 'nobody' });
    assert.equal(headers.get('cache-control'), 'no-store');
    if (status === 429) break;
  }
});

test('caching: a 304 and every coding carry the headers of the 200', async () => {
  const names = ['cache-control', 'cache-tag', 'etag', 'vary'];
  const of = ({ headers }: { headers: Headers }) => names.map((name) => headers.get(name));
  const path = `/v2?id=${encodeURIComponent(viewIdOf('large'))}`;
  const first = await get('tagged', path, { headers: { 'Accept-Encoding': 'identity' } });
  assert.ok(of(first).every((value) => value !== null));
  for (const coding of ['gzip', 'br']) {
    const coded = await get('tagged', path, { headers: { 'Accept-Encoding': coding } });
    assert.equal(coded.headers.get('content-encoding'), coding);
    assert.deepEqual(of(coded), of(first));
  }
  const same = { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } };
  for (let time = 0; time < 2; time += 1) {
    const notModified = await get('tagged', path, same);
    assert.equal(notModified.status, 304);
    assert.deepEqual(of(notModified), of(first));
  }
  assert.deepEqual(of(await front.call('HEAD', path, { key: 'tagged' })), of(first));
});

test('caching: tags name each view in the answer, each requested key and each missing reference', async () => {
  const asked = [viewIdOf('nobody'), 'no id'];
  const query = new URLSearchParams([
    ['url', '/Straße/a'],
    ['handle', 'c'],
    ['handle', 'none'],
    ...asked.map((id): [string, string] => ['id', id]),
  ]);
  const expected = answerTags(scope, {
    views: ['a', 'b', 'c', 'missing'].map(view),
    viewIds: asked,
    claimFields: [urlField('/Straße/a'), claimField.handle('c'), claimField.handle('none')],
  });
  assert.equal(expected.length, 9);
  for (const path of [`/v2?${query}`, `/v1?${query}`, `/v1?${query}`]) {
    const tags = (await get('tagged', path)).headers.get('cache-tag') ?? '';
    assert.deepEqual(tags.split(',').sort(), [...expected].sort());
    for (const tag of tags.split(',')) assert.match(tag, /^[A-Za-z0-9_-]{1,24}$/);
  }
});

test('caching: every notation of a URL gives its tag, also for a redirect and for a 404', async () => {
  const ways = ['/Straße/a', '/Stra%c3%9fe/a/', 'https://ANY.example.net/%53traße/a?x=1#y'];
  for (const url of [...ways, '/old', '/old/?x', '/none', 'https://a.example/none/']) {
    const { headers } = await get('tagged', `/v2?url=${encodeURIComponent(url)}`);
    const [tag = ''] = answerTags(scope, { views: [], viewIds: [], claimFields: [urlField(url)] });
    assert.ok(headers.get('cache-tag')?.split(',').includes(tag), url);
  }
});

test('caching: the name of the header determines how its tags are separated', async () => {
  for (const [name, header, separator] of [
    ['tagged', 'Cache-Tag', ','],
    ['spaced', 'Surrogate-Key', ' '],
    ['lower', 'xkey', ' '],
    ['own', 'X-My-Tags', ','],
  ] as const) {
    const { headers } = await get(name, '/v2?url=/Straße/a');
    assert.equal(headers.get(header)?.split(separator).length, 5, name);
  }
  const plain = await get('plain', '/v2?url=/Straße/a');
  for (const header of ['cache-tag', 'surrogate-key', 'xkey', 'x-my-tags'])
    assert.equal(plain.headers.get(header), null);
});

test('caching: beyond 8 kB a tag of each schema replaces its views, and a change of any view still matches one', async () => {
  const ids = encodeURIComponent(viewIdOf('many'));
  const { headers, json } = await get('tagged', `/v2?id=${ids}&handle=c`);
  assert.equal(json.meta.missingViewReferences.length, manyReferences);
  const tags = headers.get('cache-tag')?.split(',') ?? [];
  assert.equal(tags.length, 2);
  const handles = Array.from({ length: 1000 }, (_, at) => `handle "${at}"`);
  const posted = await front.call('POST', '/v2', { key: 'tagged', body: { handles } });
  const widest = posted.headers.get('cache-tag')?.split(',') ?? [];
  assert.equal(widest.length, 1);
  for (const number of [0, manyReferences - 1]) {
    const changed = changeTags(scope, view(`none-${number}`), []);
    assert.ok(tags.some((tag) => changed.includes(tag)));
    const claimed = changeTags(scope, view('new'), [claimField.handle(`handle "${number}"`)]);
    assert.ok(widest.some((tag) => claimed.includes(tag)));
  }
  assert.ok(tags.some((tag) => changeTags(scope, view('new'), [claimField.handle('c')]).includes(tag)));
});

test('caching: requested names cannot inject headers', async () => {
  for (const evil of ['x\r\nSet-Cookie: a=b', 'a,b c', 'ü\u0000', '\u2028']) {
    const query = new URLSearchParams({ handle: evil, id: evil, url: `/${evil}` });
    const { status, headers } = await get('tagged', `/v2?${query}`);
    assert.equal(status, 200);
    assert.equal(headers.get('set-cookie'), null);
    assert.match(headers.get('cache-tag') ?? '', /^[A-Za-z0-9_-]{1,24}(,[A-Za-z0-9_-]{1,24}){2}$/);
  }
});

test('caching: a cached answer belongs to one client; each gets its own headers, and the body is the same', async () => {
  cache.empty();
  const names = Object.keys(settings) as ClientName[];
  const ask = () => Promise.all(names.map((name) => get(name, '/v2?url=/Straße/a')));
  const [first, again] = [await ask(), await ask()];
  assert.equal(cache.stats.hits >= names.length, true);
  for (const answers of [first, again]) {
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.deepEqual(
      answers.map(({ headers }) => headers.get('cache-control')),
      ['private, no-cache', setting, 'max-age=5', 'private, no-cache', 'private, no-cache'],
    );
    assert.deepEqual(
      answers.map(({ headers }) => headers.has('cache-tag')),
      [false, true, false, false, false],
    );
  }
});

test('caching: an answer in a shared cache is valid for pages of every origin, whoever requested it first', async () => {
  const allowed = async (name: ClientName) =>
    (await get(name, '/v2?url=/Straße/a')).headers.get('access-control-allow-origin');
  assert.deepEqual([await allowed('tagged'), await allowed('plain')], ['*', '*']);
});
