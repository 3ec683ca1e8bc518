import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { until } from '../../support/until.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView, viewIdOf } from '../support/seed.ts';
import { apiKeys } from '../support/site.ts';
import { exchange } from '../support/wire.ts';

let front: TestFront;
before(async () => {
  front = await startFront();
  const { store } = front;
  await putView(store, 'a', 'A', { next: 'b' });
  await putView(store, 'b', 'B', { back: 'a', gone: 'missing' });
  await putClaim(store, 'a', { url: '/Straße/a' });
  await putClaim(store, 'a', { url: '/old', redirect: '/Straße/a' });
  await putClaim(store, 'a', { handle: "it's" });
  await putClaim(store, 'a', { handle: 'second' });
  await putClaim(store, 'b', { url: 'https://shop.example.com/b' });
  await putClaim(store, 'b', { handle: '__proto__' });
});
after(() => front.stop());

const key = apiKeys.client;
const get = (query: Record<string, string | string[]>, headers: Record<string, string> = {}) => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return front.call('GET', `/v2?${new URLSearchParams(pairs)}`, { key, headers });
};
const post = (body: unknown, query = '') => front.call('POST', `/v2${query}`, { key, body });

const renderedA = { title: 'A', next: { title: 'B', back: null, gone: null } };

test('delivery: a URL returns its view, with references resolved, cycles null and missing ones listed', async () => {
  const { status, json } = await get({ url: '/Straße/a' });
  assert.equal(status, 200);
  assert.deepEqual(json, {
    meta: {
      status: 200,
      redirect: null,
      missingViewReferences: [{ path: 'route.next.gone', viewId: viewIdOf('missing') }],
    },
    route: renderedA,
    views: {},
  });
});

test('delivery: a URL matches in any notation, on every host of the domains', async () => {
  for (const url of [
    '/Stra%c3%9fe/a',
    '/Straße/a/',
    '/Straße/a?x=1#y',
    'https://ANY.example.net/Straße/a',
    'http://shop.example.com/%53traße/a',
  ]) {
    assert.deepEqual((await get({ url })).json.route, renderedA, url);
  }
  assert.equal((await get({ url: 'https://SHOP.example.org/b' })).json.meta.status, 200);
  for (const url of ['/b', 'https://other.example.com/b', '/straße/a']) {
    const { status, json } = await get({ url });
    assert.deepEqual([status, json.meta.status, json.route], [200, 404, null], url);
  }
});

test('delivery: a redirect URL returns its target', async () => {
  const { json } = await get({ url: '/old', handle: 'second' });
  assert.deepEqual(json.meta.redirect, '/Straße/a');
  assert.deepEqual([json.meta.status, json.route], [301, null]);
  assert.deepEqual(json.views.second, renderedA);
});

test('delivery: a view is returned under the first of its keys, or under each if requested', async () => {
  const query = { id: [viewIdOf('a'), viewIdOf('nothing'), 'garbage'], handle: ["it's", 'second', 'none'] };
  const { json } = await get(query);
  assert.deepEqual(Object.keys(json.views), [viewIdOf('a')]);
  const all = await get({ ...query, includeDuplicateViews: 'true' });
  assert.deepEqual(Object.keys(all.json.views), [viewIdOf('a'), "it's", 'second']);
  assert.deepEqual(
    all.json.meta.missingViewReferences.map(({ path }: { path: string }) => path),
    [`views['${viewIdOf('a')}'].next.gone`, "views['it\\'s'].next.gone", "views['second'].next.gone"],
  );
});

test('delivery: POST returns views by ids and handles, without a route', async () => {
  const { status, text, json } = await post({ ids: [viewIdOf('b')], handles: ['__proto__', 'second'] });
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json), ['meta', 'views']);
  assert.deepEqual(Object.keys(json.views), [viewIdOf('b'), 'second']);
  assert.ok(!text.includes('__proto__'));
  const duplicates = await post(
    { ids: [viewIdOf('b')], handles: ['__proto__'] },
    '?includeDuplicateViews=true',
  );
  assert.ok(duplicates.text.includes('"__proto__":{"title":"B"'));
});

test('delivery: an invalid request is 422 with meta and message', async () => {
  const long = `/${'x'.repeat(4096)}`;
  const queries = [
    '',
    'url=',
    'url=/a&url=/b',
    `url=${long}`,
    'handle=x&handle=x',
    'url=a',
    'id=%ff',
    'id=%',
  ];
  for (const query of [...queries, 'handle=x&includeDuplicateViews=maybe']) {
    const { status, json } = await front.call('GET', `/v2?${query}`, { key });
    assert.deepEqual(
      [status, json.meta, typeof json.message],
      [422, { status: 422 }, 'string'],
      query.slice(0, 30),
    );
  }
  const { json } = await front.call('GET', '/v2', { key });
  assert.equal(json.message, 'Missing id, handle or url query parameter');
  assert.equal((await get({ url: long.slice(0, 4096) })).json.meta.status, 404);
  const ids = Array.from({ length: 1001 }, String);
  for (const body of [
    '',
    '[',
    [],
    {},
    { ids: [] },
    { ids: 'x' },
    { ids: [1] },
    { handles: ['x', 'x'] },
    { ids },
  ]) {
    const { status, json: refusal } = await post(body);
    assert.deepEqual([status, refusal.meta], [422, { status: 422 }], JSON.stringify(body).slice(0, 30));
  }
  assert.equal((await post({ ids: ids.slice(0, 1000), handles: null })).status, 200);
});

test('delivery: every 200 has an ETag, and a request with it gets 304', async () => {
  const first = await get({ url: '/Straße/a' });
  const etag = first.headers.get('etag') ?? '';
  assert.ok(etag !== '');
  const same = await get({ url: '/Straße/a' }, { 'If-None-Match': etag });
  assert.deepEqual([same.status, same.text, same.headers.get('etag')], [304, '', etag]);
  assert.equal((await get({ url: '/old' }, { 'If-None-Match': etag })).status, 200);
  assert.ok((await get({ url: '/nowhere' })).headers.get('etag'));
});

test('delivery: bodies over 1 KiB are compressed in the preferred coding of the client', async () => {
  await putView(front.store, 'big', 'x'.repeat(5000));
  await putClaim(front.store, 'big', { handle: 'big' });
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
  const plain = await raw('handle=big', 'identity');
  assert.equal(plain.coding, null);
  for (const [coding, decode] of Object.entries(decoders)) {
    const answer = await raw('handle=big', coding);
    assert.equal(answer.coding, coding);
    assert.ok(answer.bytes.length < 1000);
    assert.equal(decode(answer.bytes).toString(), plain.bytes.toString());
  }
  assert.equal((await raw('handle=second', 'br')).coding, null);
});

/** The raw bytes, which fetch would decode. */
async function raw(query: string, coding: string): Promise<{ coding: string | null; bytes: Buffer }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const headers = { 'X-Api-Key': key, 'Accept-Encoding': coding };
    request(`${front.url}/v2?${query}`, { headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        resolve({ coding: response.headers['content-encoding'] ?? null, bytes: Buffer.concat(pieces) });
      });
    })
      .on('error', reject)
      .end();
  });
}

test('delivery: a large answer is complete, and one beyond 32 MiB is refused', async () => {
  await putView(front.store, 'huge', 'y'.repeat(5_000_000));
  const names = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`n${n}`, 'huge']));
  await putView(front.store, 'six', 'six', names);
  await putView(front.store, 'seven', 'seven', { ...names, n6: 'huge' });
  const six = await post({ ids: [viewIdOf('six')] });
  assert.equal(six.status, 200);
  assert.equal(six.json.views[viewIdOf('six')].n5.title.length, 5_000_000);
  assert.equal((await post({ ids: [viewIdOf('seven')] })).status, 422);
});

test('delivery: a page wins over a redirect, an absolute route over a relative one, the latest over older ones', async () => {
  const { store } = front;
  await putView(store, 'p1', 'P1');
  await putView(store, 'p2', 'P2');
  await putClaim(store, 'p1', { url: '/clash', since: 1 });
  await putClaim(store, 'p2', { url: '/clash', redirect: '/x', since: 9 });
  /** The cached answer is returned until the front has received the change. */
  const shows = (url: string, title: string) =>
    until(`${url} shows ${title}`, async () => (await get({ url })).json.route?.title === title);
  await shows('/clash', 'P1');
  await putClaim(store, 'p2', { url: '/clash', since: 5 });
  await shows('/clash', 'P2');
  await putClaim(store, 'p2', { url: '/clash', since: 5, action: 'drop' });
  await shows('/clash', 'P1');
  await putClaim(store, 'p2', { url: 'https://shop.example.com/clash', since: 0 });
  await shows('https://shop.example.org/clash', 'P2');
  await shows('/clash', 'P1');
});

test('delivery: each domain gets its own page of a path that very many hosts claim', async () => {
  const { store } = front;
  const shows = (url: string, title: string | undefined) =>
    until(`${url} shows ${title}`, async () => (await get({ url })).json.route?.title === title);
  await putView(store, 'own', 'of the shop');
  await putView(store, 'other', 'of other hosts');
  await putView(store, 'everywhere', 'of every host');
  await putClaim(store, 'own', { url: 'https://shop.example.org:8443/many', since: 1 });
  for (let n = 0; n < 50; n += 1) {
    await putClaim(store, 'other', { url: `https://h${n}.example.net/many`, since: 10 + n });
  }
  await shows('https://shop.example.com/many', 'of the shop');
  await shows('https://h3.example.net/many', 'of other hosts');
  await putClaim(store, 'everywhere', { url: '/many', since: 99 });
  await shows('https://shop.example.com/many', 'of the shop');
  await putClaim(store, 'own', { url: 'https://shop.example.org:8443/many', since: 1, action: 'drop' });
  await shows('https://shop.example.com/many', 'of every host');
  const { json } = await front.call('GET', '/routes/v1?first=100', { key });
  const urls: string[] = json.results.map(({ url }: { url: string }) => url);
  assert.equal(urls.filter((url) => url.endsWith('/many')).length, 51);
});

test('delivery: a page whose views have new references since it was last read shows those', async () => {
  const { store } = front;
  for (const leaf of ['l1', 'l2', 'l3']) await putView(store, leaf, leaf);
  const shows = (route: object) =>
    until(JSON.stringify(route), async () => {
      const { json } = await get({ url: '/changing' });
      return JSON.stringify(json.route) === JSON.stringify(route);
    });
  const [l1, l2, l3] = [{ title: 'l1' }, { title: 'l2' }, { title: 'l3' }];
  await putView(store, 'c1', 'C', { one: 'l1', two: 'l2' });
  await putClaim(store, 'c1', { url: '/changing', since: 1 });
  await shows({ title: 'C', one: l1, two: l2 });
  /** A claim is announced, a view written by this test is not. */
  const announce = (since: number) => putClaim(store, 'c1', { url: '/changing', since });
  await putView(store, 'c1', 'D', { one: 'l2', two: 'l1' });
  await announce(2);
  await shows({ title: 'D', one: l2, two: l1 });
  await putView(store, 'c1', 'D', { one: 'l3', three: 'l1' });
  await announce(3);
  await shows({ title: 'D', one: l3, three: l1 });
  await putView(store, 'c1', 'none');
  await announce(4);
  await shows({ title: 'none' });
  await putView(store, 'c2', 'other', { one: 'l2' });
  await putClaim(store, 'c2', { url: '/changing', since: 9 });
  await shows({ title: 'other', one: l2 });
});

test('delivery: another tenant with the same ids sees nothing', async () => {
  const query = new URLSearchParams([
    ['url', '/Straße/a'],
    ['id', viewIdOf('a')],
    ['handle', 'second'],
  ]);
  const { json } = await front.call('GET', `/v2?${query}`, { key: apiKeys.otherClient });
  assert.deepEqual([json.meta.status, json.route, json.views], [404, null, {}]);
});

test('delivery: a version that is not reached in 5 s is 503, and an invalid one is refused', async () => {
  const ours = await front.call('POST', '/ingest/v2', {
    key: apiKeys.source,
    body: [{ originId: 'v', type: 't', properties: {} }],
  });
  const version = ours.headers.get('x-service-version') ?? '';
  const late = await get({ handle: 'second' }, { 'X-Service-Min-Version': version });
  assert.deepEqual([late.status, late.json.meta], [503, { status: 503 }]);
  assert.ok(late.headers.get('retry-after'));
  assert.equal((await get({ handle: 'second' }, { 'X-Acme-Min-Version': 'x' })).status, 422);
  assert.equal((await get({ handle: 'second' }, { 'X-Service-Min-Version': 'v1-' })).status, 200);
});

test('delivery: a wrong method, and a body without a length, are not cached', async () => {
  const head = (line: string) =>
    `${line} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\nConnection: close\r\n\r\n`;
  for (const [line, status] of [
    ['PUT /v2?handle=second', 405],
    ['PUT /v1', 405],
    ['DELETE /v1/', 405],
    ['POST /v2', 411],
  ] as const) {
    const { text } = await exchange(front.port, [head(line)]);
    assert.match(text, new RegExp(`^HTTP/1.1 ${status} `), line);
    assert.match(text, /\r\nCache-Control: no-store\r\n/, line);
    assert.match(text, new RegExp(`\\{"status":${status},"message":"[^"]+","code":"\\w+"\\}$`), line);
  }
});
