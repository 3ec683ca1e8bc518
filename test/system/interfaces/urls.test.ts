/** docs/reference/configuration.md "URLs and domains" over HTTP: what no URL may have, and two writings of one letter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryTenant } from '../support/query-tenant.ts';

const page = {
  triggers: { cms: ['page'] },
  route: { url: '{url ?? p.path}' },
  properties: { title: '{p.title}' },
};
const tenant = new QueryTenant('urls', { schemas: { page } }, {});

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

test('an entity whose URL or redirect has a fragment, or begins with two slashes, is 422', async () => {
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

test('a URL that a schema gives so is no claim', async () => {
  assert.equal(await save('given', { properties: { title: 'given', path: '/#given' } }), 200);
  assert.equal(await save('given-host', { properties: { title: 'given', path: '//host/x' } }), 200);
  assert.equal(await titleAt('/'), 'home');
  assert.equal(await titleAt('/x'), null);
  assert.equal(await save('given', { properties: { title: 'given', path: '/given' } }), 200);
  assert.equal(await titleAt('/given'), 'given');
});

test('letters in one code point and in two are one URL, raw or encoded', async () => {
  assert.equal(await save('nfd', { url: '/cafe\u0301' }), 200);
  for (const url of ['/caf\u00e9', '/cafe\u0301', '/caf%C3%A9', '/cafe%CC%81']) {
    assert.equal(await titleAt(url), 'nfd', url);
  }
  assert.equal(await save('nfc', { url: '/caf\u00e9' }), 200);
  assert.equal(await titleAt('/cafe\u0301'), 'nfc', 'the latest claim on the one URL');
});
