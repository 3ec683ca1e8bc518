import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim } from '../support/seed.ts';
import { apiKeys } from '../support/site.ts';

let front: TestFront;
/** In code-point order. */
const urls = Array.from({ length: 650 }, (_, n) => `/r/${String(n).padStart(4, '0')}`);

/** Microseconds. */
const changedAt = 1_700_000_000_000_000;

before(async () => {
  front = await startFront();
  await Promise.all(
    urls.map((url, n) =>
      putClaim(front.store, `e${n}`, { url, since: changedAt, ...(n === 3 ? { redirect: '/to' } : {}) }),
    ),
  );
});
after(() => front.stop());

const key = apiKeys.client;
const v1 = (query: string) => front.call('GET', `/routes/v1?${query}`, { key });
const v2 = (token?: string | null, inHeader = false) =>
  token === undefined || token === null
    ? front.call('GET', '/routes/v2', { key })
    : inHeader
      ? front.call('GET', '/routes/v2', { key, headers: { 'X-Continuation-Token': token } })
      : front.call('GET', `/routes/v2?continuationToken=${encodeURIComponent(token)}`, { key });
const urlsOf = (json: { results: { url: string }[] }) => json.results.map(({ url }) => url);

for (const [parameter, order] of [
  ['first', urls],
  ['last', [...urls].reverse()],
] as const) {
  test(`routes: ${parameter} lists every route once, forwards and backwards`, async () => {
    const pages: string[][] = [];
    let cursor = '';
    for (;;) {
      const { json } = await v1(`${parameter}=200${cursor === '' ? '' : `&after=${cursor}`}`);
      assert.equal(json.total, 650);
      assert.equal(json.pageInfo.hasPreviousPage, pages.length > 0);
      pages.push(urlsOf(json));
      cursor = json.pageInfo.endCursor;
      if (!json.pageInfo.hasNextPage) break;
    }
    assert.deepEqual(pages.flat(), order);
    assert.deepEqual(
      pages.map(({ length }) => length),
      [200, 200, 200, 50],
    );

    const { json: second } = await v1(
      `${parameter}=200&after=${(await v1(`${parameter}=200`)).json.pageInfo.endCursor}`,
    );
    const { json: first } = await v1(`${parameter}=200&before=${second.pageInfo.startCursor}`);
    assert.deepEqual(urlsOf(first), pages[0]);
    assert.deepEqual([first.pageInfo.hasNextPage, first.pageInfo.hasPreviousPage], [true, false]);
  });
}

test('routes: an entry has the target of a redirect and when it changed', async () => {
  const { json } = await v1('first=100');
  assert.deepEqual(json.results[3], {
    url: '/r/0003',
    redirect: '/to',
    updatedAt: '2023-11-14T22:13:20.000Z',
  });
  assert.equal(json.results[4].redirect, null);
});

test('routes: v1 rejects invalid sizes and cursors of others', async () => {
  const token = (await v2()).json.continuationToken;
  for (const query of [
    '',
    'first=99',
    'first=501',
    'last=0',
    'first=100&last=100',
    'first=1e2.5',
    'first=1e2',
    'first=0x64',
    'first=%20100',
    'first=100.0',
    'first=abc',
    'first=100&first=100',
    'first=100&after=abc',
    `first=100&after=${token}`,
  ]) {
    const { status, json } = await v1(query);
    assert.deepEqual([status, json.status, typeof json.message], [422, 422, 'string'], query);
  }
});

test('routes: v2 pages through all routes, 500 a page, while others come and go', async () => {
  const first = (await v2()).json;
  assert.equal(first.results.length, 500);
  await putClaim(front.store, 'e10', { url: '/r/0010', action: 'drop' });
  await putClaim(front.store, 'new', { url: '/r/0000-new' });
  for (const inHeader of [false, true]) {
    const second = (await v2(first.continuationToken, inHeader)).json;
    assert.deepEqual([...urlsOf(first), ...urlsOf(second)], urls);
    assert.equal(second.continuationToken, null);
  }
  const bad = await v2('bm90IG91cnM');
  assert.deepEqual([bad.status, bad.json.status], [422, 422]);
});

test('routes: v2 rejects a repeated parameter in every format', async () => {
  for (const query of [
    'base=https://a&base=https://a',
    'format=sitemap&base=https://a&base=https://a',
    'format=json&format=json',
  ]) {
    const { status, json } = await front.call('GET', `/routes/v2?${query}`, { key: apiKeys.client });
    assert.deepEqual([status, json.code], [422, 'parameterInvalid'], query);
  }
});

test('routes: a tenant lists only its own routes', async () => {
  const { json } = await front.call('GET', '/routes/v1?first=100', { key: apiKeys.otherClient });
  assert.deepEqual(json, {
    total: 0,
    pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    results: [],
  });
});
