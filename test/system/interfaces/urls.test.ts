/** docs/reference/configuration.md "URLs and domains" over HTTP: forbidden URLs, query strings, and encodings of a letter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryTenant } from '../support/query-tenant.ts';

const page = {
  triggers: { cms: ['page'] },
  route: { url: '{url ?? p.path}' },
  properties: { title: '{p.title}' },
};
const managementKey = 'manage';
const settings = { managementClients: [{ name: 'people', apiKeys: [managementKey] }] };
const tenant = new QueryTenant('urls', { schemas: { page }, settings }, {});

async function save(originId: string, members: object, title = originId): Promise<number> {
  const body = { type: 'page', properties: { title }, ...members };
  const { status } = await tenant.send('POST', `/ingest/v2/${originId}`, body);
  await tenant.settle();
  return status;
}

async function titleAt(url: string): Promise<string | null> {
  const { json } = await tenant.get(`/v2?url=${encodeURIComponent(url)}`);
  return json.route?.title ?? null;
}

test('urls: an entity whose URL or redirect has a fragment, or begins with two slashes, is 422', async () => {
  assert.equal(await save('home', { url: '/' }), 200);
  for (const url of ['/#contact', '/a#', '//www.example.com/x', 'https://www.example.com/#x']) {
    const body = { type: 'page', url, properties: {} };
    const { status, json } = await tenant.send('POST', '/ingest/v2/bad', body);
    assert.equal(status, 422, url);
    assert.match(json.errors.url, /must begin with one \/.* must have no fragment/);
    assert.equal(await save('bad', { redirects: [url] }), 422);
  }
  assert.equal(await titleAt('/'), 'home');
});

test('urls: such a URL from a schema is not a claim, and is reported in the diagnostics', async () => {
  assert.equal(await save('given', { properties: { title: 'given', path: '/#given' } }), 200);
  assert.equal(await save('given-host', { properties: { title: 'given', path: '//host/x' } }), 200);
  assert.equal(await titleAt('/'), 'home');
  assert.equal(await titleAt('/x'), null);
  const { json } = await tenant.get('/management/v1/diagnostics', managementKey);
  const reported = json.diagnostics.find(({ kind }: { kind: string }) => kind === 'urlMissing');
  assert.match(reported.message, /begins with one \/ .* has no fragment/);
  assert.deepEqual([reported.schema, reported.place, reported.count], ['page', '$.route.url', 2]);
  assert.equal(await save('given', { properties: { title: 'given', path: '/given' } }), 200);
  assert.equal(await titleAt('/given'), 'given');
});

test('urls: composed and decomposed letters are the same URL, raw or encoded', async () => {
  assert.equal(await save('nfd', { url: '/cafe\u0301' }), 200);
  for (const url of ['/caf\u00e9', '/cafe\u0301', '/caf%C3%A9', '/cafe%CC%81']) {
    assert.equal(await titleAt(url), 'nfd', url);
  }
  assert.equal(await save('nfc', { url: '/caf\u00e9' }), 200);
  assert.equal(await titleAt('/cafe\u0301'), 'nfc', 'the latest claim on the one URL');
});

test('urls: claims with a query string answer their own parameters in any order, before those without one', async () => {
  assert.equal(await save('five', { url: '/old.php?id=5&lang=da' }), 200);
  assert.equal(await save('seven', { url: '/new-seven', redirects: ['/old.php?id=7'] }), 200);
  assert.equal(await titleAt('/old.php?id=6'), null);
  assert.equal(await save('old', { url: '/old.php' }), 200);
  assert.equal(await titleAt('/old.php?id=5&lang=da'), 'five');
  assert.equal(await titleAt('/old.php?lang=da&id=5'), 'five');
  const { json } = await tenant.get(`/v2?url=${encodeURIComponent('/old.php?id=7')}`);
  assert.deepEqual([json.meta.status, json.meta.redirect], [301, '/new-seven']);
  for (const url of ['/old.php', '/old.php?id=5', '/old.php?id=5&lang=da&page=2', '/old.php?id=8']) {
    assert.equal(await titleAt(url), 'old', url);
  }
  const { json: routes } = await tenant.get('/routes/v2');
  const listed = routes.results.map(({ url }: { url: string }) => url);
  for (const url of ['/old.php', '/old.php?id=5&lang=da', '/old.php?id=7'])
    assert.ok(listed.includes(url), url);
});

test('urls: a URL with a query string is explained by the claims with it and by those without one', async () => {
  assert.equal(await save('plain', { url: '/explained' }), 200);
  assert.equal(await save('with-query', { url: '/explained?b=2&a=1' }), 200);
  const url = encodeURIComponent('/explained?a=1&b=2');
  const path = `/management/v1/explain/url?environment=production&url=${url}`;
  const { json } = await tenant.get(path, managementKey);
  assert.deepEqual(
    json.claims.map(({ url, served, because }: Record<string, unknown>) => [url, served, because]),
    [
      ['/explained?b=2&a=1', true, 'it is the first claim that applies'],
      ['/explained', false, 'a claim with the query string of the URL comes first'],
    ],
  );
});

test('urls: a cached answer for a query string is evicted when a claim with that query string is added or dropped', async () => {
  assert.equal(await save('shop', { url: '/shop' }), 200);
  assert.equal(await titleAt('/shop?c=1'), 'shop');
  assert.equal(await titleAt('/shop?c=2'), 'shop');
  assert.equal(await save('shop-1', { url: '/shop?c=1' }), 200);
  assert.equal(await titleAt('/shop?c=1'), 'shop-1');
  assert.equal(await titleAt('/shop?c=2'), 'shop');
  assert.equal(await save('shop-1', { url: '/shop?c=2' }), 200);
  assert.equal(await titleAt('/shop?c=1'), 'shop');
  assert.equal(await titleAt('/shop?c=2'), 'shop-1');
});

test('urls: in a redirect header a comma inside a URL is %2C, and one that splits a URL is 422', async () => {
  const headers = { 'X-Service-Type': 'page', 'X-Service-Url': '/target' };
  const saveRaw = (redirects: string) =>
    tenant.send('POST', '/ingest/v2/raw', { title: 'raw' }, { ...headers, 'X-Service-Redirects': redirects });
  for (const redirects of ['/of,commas', '/a, /old.php?ids=1,2']) {
    const { status, json } = await saveRaw(redirects);
    assert.equal(status, 422, redirects);
    assert.match(json.errors.redirects, /after a comma.*Write a comma inside a URL as %2C/);
  }
  assert.equal((await saveRaw('/of%2Ccommas, /old.php?ids=1%2C2,https://www.example.com/x')).status, 200);
  await tenant.settle();
  for (const url of ['/of,commas', '/old.php?ids=1,2', 'https://www.example.com/x']) {
    const { json } = await tenant.get(`/v2?url=${encodeURIComponent(url)}`);
    assert.deepEqual([json.meta.status, json.meta.redirect], [301, '/target'], url);
  }
});

test('urls: a sitemap lists the pages with absolute, encoded URLs and no redirects', async () => {
  assert.equal(await save('map', { url: '/kort/café og te/?a=1&b=2', redirects: ['/map-old'] }), 200);
  assert.equal(await save('map-host', { url: 'https://www.example.com/own' }), 200);
  assert.equal(await save('map-other', { url: 'https://other.example.com/other' }), 200);
  const path = '/kort/caf%C3%A9%20og%20te/?a=1&amp;b=2';
  const based = await tenant.get('/routes/v2?format=sitemap&base=https://www.example.com');
  assert.equal(based.status, 200, based.text);
  assert.match(based.headers['content-type'] ?? '', /^application\/xml/);
  assert.ok(based.text.includes(`<url><loc>https://www.example.com${path}</loc><lastmod>2`), based.text);
  assert.match(based.text, /<loc>https:\/\/www\.example\.com\/own<\/loc>/);
  assert.doesNotMatch(based.text, /map-old|other\.example/);

  const { status, text } = await tenant.get('/routes/v2?format=sitemap');
  assert.equal(status, 200, text);
  const locs = [...text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, loc = '']) => loc);
  assert.ok(
    locs.every((loc) => URL.canParse(loc)),
    'no base, no named host: that of the request',
  );
  assert.ok(locs.some((loc) => loc.endsWith(path)));
  assert.ok(locs.includes('https://other.example.com/other'), 'pages of every host are listed');
  for (const query of ['format=sitemap&base=/x', 'format=sitemap&base=https://a/b', 'format=xml']) {
    assert.equal((await tenant.get(`/routes/v2?${query}`)).status, 422, query);
  }
});
