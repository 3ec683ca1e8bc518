import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { routeTable } from '../../../src/http/routing/route-table.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { type CallOptions, startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView } from '../support/seed.ts';
import { apiKeys, testConfiguration } from '../support/site.ts';
import { exchange } from '../support/wire.ts';

const narrowKey = 'client-narrow';
const noneKey = 'client-none';
const routesKey = 'client-narrow-routes';
const origins = ['https://www.example.com', 'https://*.example.com', 'http://localhost:*'];
const page = 'https://www.example.com';
const stranger = 'https://evil.example';

let front: TestFront;
before(async () => {
  const current = testConfiguration([
    { name: 'narrow', origins, apiKeys: [narrowKey] },
    { name: 'none', origins: [], apiKeys: [noneKey] },
    { name: 'narrow routes', origins, scopes: ['routes'], apiKeys: [routesKey] },
  ]);
  front = await startFront({
    services: { configuration: { loaded: true, current, layouts: LayoutStates.none } },
  });
  await putView(front.store, 'a', 'A '.repeat(1000));
  await putClaim(front.store, 'a', { url: '/a' });
});
after(() => front.stop());

const paths = [...new Set(routeTable.map(({ path }) => path))];
const concrete = (path: string) => path.replaceAll(/\{\w+\}/g, 'x');
const routesAt = (path: string) => routeTable.filter((route) => route.path === path);
const listOf = (text: string | null) => (text ?? '').split(', ').sort();

function ask(method: string, path: string, origin: string, options: CallOptions = {}) {
  return front.call(method, path, {
    ...options,
    headers: { Origin: origin, 'X-Request-Id': 'same', ...options.headers },
  });
}

test('cross origin: a preflight of every path with an environment key is 204 for anyone; other paths have none', async () => {
  for (const path of paths) {
    const readers = routesAt(path).filter(({ access }) => ['client', 'reader'].includes(access.kind));
    for (const origin of [page, stranger, 'null']) {
      const headers = {
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'x-api-key',
      };
      const { status, headers: answered, text } = await ask('OPTIONS', concrete(path), origin, { headers });
      if (readers.length === 0) {
        assert.equal(status, 405, path);
        assert.equal(answered.get('access-control-allow-origin'), null);
        continue;
      }
      assert.deepEqual([status, text, answered.get('content-length')], [204, '', null], path);
      assert.equal(answered.get('access-control-allow-origin'), '*');
      assert.equal(answered.get('access-control-max-age'), '86400');
      assert.equal(answered.get('access-control-allow-credentials'), null);
      const methods = readers.flatMap(({ method }) =>
        method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
      );
      assert.deepEqual(listOf(answered.get('access-control-allow-methods')), methods.sort());
      const read = readers.flatMap((route) => [
        ...(route.body === undefined ? [] : ['Content-Encoding']),
        ...(route.access.kind === 'reader' ? ['Authorization'] : []),
        ...route.headers.flatMap(({ name, prefixed }) =>
          prefixed ? [`X-Acme-${name}`, `X-Service-${name}`] : [name],
        ),
      ]);
      assert.deepEqual(
        listOf(answered.get('access-control-allow-headers')),
        [...new Set(['X-Api-Key', 'Content-Type', 'X-Request-Id', 'traceparent', ...read])].sort(),
        path,
      );
    }
  }
});

test('cross origin: a preflight reveals nothing about a key or its owner', async () => {
  const heads = [];
  for (const key of [apiKeys.client, narrowKey, noneKey, apiKeys.source, 'unknown']) {
    const { text } = await exchange(
      front.port,
      [
        `OPTIONS /v2 HTTP/1.1\r\nHost: x\r\nOrigin: ${stranger}\r\nX-Api-Key: ${key}\r\nX-Request-Id: same\r\nConnection: close\r\n\r\n`,
      ],
      Number.POSITIVE_INFINITY,
    );
    heads.push(text.replace(/\r\nDate: [^\r]*/, ''));
  }
  assert.match(heads[0] ?? '', /^HTTP\/1\.1 204 No Content\r\n/);
  assert.equal(new Set(heads).size, 1);
});

/** Requests, and the status of each, with a key that may do everything. */
const requests: readonly (readonly [number, string, string, CallOptions])[] = [
  [200, 'GET', '/v2?url=/a', {}],
  [200, 'HEAD', '/v2?url=/a', {}],
  [200, 'GET', '/v2?url=/a', { headers: { 'Accept-Encoding': 'br' } }],
  [200, 'GET', '/v2?url=/missing', {}],
  [304, 'GET', '/v2?url=/a', { headers: { 'If-None-Match': '*' } }],
  [422, 'GET', '/v2', {}],
  [200, 'POST', '/v2', { body: { handles: ['x'] } }],
  [422, 'POST', '/v2', { body: '{' }],
  [415, 'POST', '/v2', { body: '{}', headers: { 'Content-Encoding': 'zstd' } }],
  [200, 'GET', '/routes/v1?first=100', {}],
  [200, 'GET', '/routes/v2', {}],
  [422, 'GET', '/routes/v2?continuationToken=x', {}],
  [503, 'POST', '/v1/x', { body: {} }],
  [400, 'POST', '/v1/x', { body: '{' }],
  [404, 'GET', '/nowhere', {}],
  [405, 'PATCH', '/v2', {}],
];

test('cross origin: every answer to a page of another origin allows it to read status, body and headers', async () => {
  for (const [expected, method, path, options] of requests) {
    const what = `${method} ${path} ${expected}`;
    const { status, headers } = await ask(method, path, stranger, { key: apiKeys.client, ...options });
    assert.equal(status, expected, what);
    assert.equal(headers.get('access-control-allow-origin'), '*', what);
    const exposed = listOf(headers.get('access-control-expose-headers'));
    for (const name of ['ETag', 'X-Service-Version', 'X-Acme-Version', 'Retry-After', 'Allow'])
      assert.ok(exposed.includes(name), `${what} ${name}`);
    assert.equal(headers.get('access-control-allow-credentials'), null, what);
    assert.doesNotMatch(headers.get('vary') ?? '', /Origin/, what);
  }
});

test('cross origin: a wrong key, a missing one and one of another kind are readable by the page', async () => {
  for (const [key, expected] of [
    ['unknown', 401],
    [undefined, 401],
    [apiKeys.source, 403],
    [apiKeys.routes, 403],
  ] as const) {
    const { status, headers, json } = await ask(
      'GET',
      '/v2?url=/a',
      stranger,
      key === undefined ? {} : { key },
    );
    assert.equal(status, expected);
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(json.meta.status, expected);
  }
});

test('cross origin: a client that restricts its origins answers their pages, with the origin itself', async () => {
  for (const origin of [page, 'https://shop.example.com', 'http://localhost', 'http://localhost:5173']) {
    for (const [expected, method, path, options] of requests) {
      const what = `${origin} ${method} ${path}`;
      const { status, headers } = await ask(method, path, origin, { key: narrowKey, ...options });
      assert.equal(status, expected, what);
      assert.equal(headers.get('access-control-allow-origin'), origin, what);
      assert.match(headers.get('access-control-expose-headers') ?? '', /ETag/, what);
      assert.match(headers.get('vary') ?? '', /\bOrigin\b/, what);
    }
  }
});

test('cross origin: other pages get the same answer without permission to read it', async () => {
  for (const [key, origin] of [
    [narrowKey, stranger],
    [narrowKey, 'null'],
    [narrowKey, 'https://example.com'],
    [narrowKey, 'http://www.example.com'],
    [narrowKey, `https://${'a'.repeat(1000)}.example.com`],
    [noneKey, page],
  ] as const) {
    for (const [expected, method, path, options] of requests) {
      const what = `${origin.slice(0, 40)} ${method} ${path}`;
      const { status, headers, text } = await ask(method, path, origin, { key, ...options });
      assert.equal(status, expected, what);
      for (const name of ['allow-origin', 'expose-headers', 'allow-credentials'])
        assert.equal(headers.get(`access-control-${name}`), null, what);
      assert.match(headers.get('vary') ?? '', /\bOrigin\b/, what);
      const headersOfOwn = { 'X-Request-Id': 'same', ...options.headers };
      const { text: asAlways } = await front.call(method, path, { key, ...options, headers: headersOfOwn });
      assert.equal(text, asAlways, what);
    }
  }
  const refused = await ask('GET', '/v2?url=/a', stranger, { key: routesKey });
  assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [403, null]);
});

test('cross origin: tools for language models are for pages with an environment key, not with a management key', async () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
  for (const [headers, origin, status, allowed] of [
    [{ 'X-Api-Key': apiKeys.client }, stranger, 200, '*'],
    [bearer(apiKeys.client), stranger, 200, '*'],
    [{ 'X-Api-Key': narrowKey }, page, 200, page],
    [bearer(narrowKey), page, 200, page],
    [bearer(narrowKey), stranger, 200, null],
    [{}, stranger, 401, '*'],
    [{ 'X-Api-Key': apiKeys.manager }, page, 200, null],
    [bearer(apiKeys.manager), page, 200, null],
  ] as const) {
    const answer = await ask('POST', '/mcp', origin, { body, headers });
    assert.equal(answer.status, status, JSON.stringify(headers));
    assert.equal(answer.headers.get('access-control-allow-origin'), allowed, JSON.stringify(headers));
  }
});

test('cross origin: a cached answer contains nothing of another request', async () => {
  const of = async (key: string, origin: string | null) => {
    const options = { key, headers: origin === null ? {} : { Origin: origin } };
    const { status, headers } = await front.call('GET', '/v2?url=/a', options);
    assert.equal(status, 200);
    return headers.get('access-control-allow-origin');
  };
  for (const origin of [page, null, stranger, 'http://localhost:1', stranger, null, page]) {
    const isAllowed = origin !== null && origin !== stranger;
    assert.equal(await of(narrowKey, origin), isAllowed ? origin : null);
    assert.equal(await of(apiKeys.client, origin), '*');
  }
});

test('cross origin: an answer to a request without an Origin can be cached and returned to a page', async () => {
  for (const [, method, path, options] of requests) {
    const open = await front.call(method, path, { key: apiKeys.client, ...options });
    const narrow = await front.call(method, path, { key: narrowKey, ...options });
    assert.equal(open.headers.get('access-control-allow-origin'), '*');
    assert.equal(narrow.headers.get('access-control-allow-origin'), null);
    if (path !== '/nowhere' && method !== 'PATCH') {
      for (const { headers } of [open, narrow]) assert.match(headers.get('vary') ?? '', /X-Api-Key/, path);
    }
    assert.doesNotMatch(open.headers.get('vary') ?? '', /Origin/);
    assert.match(narrow.headers.get('vary') ?? '', /\bOrigin\b/);
  }
});

test('cross origin: the rejection of a body before it is read is readable by the page', async () => {
  const head = (...fields: string[]) =>
    ['POST /v2 HTTP/1.1', 'Host: x', `Origin: ${page}`, `X-Api-Key: ${narrowKey}`, ...fields, '', ''].join(
      '\r\n',
    );
  for (const fields of [['Transfer-Encoding: chunked'], []]) {
    const { text } = await exchange(front.port, [
      `${head(...fields)}${fields.length === 0 ? '' : '0\r\n\r\n'}`,
    ]);
    assert.match(text, /^HTTP\/1\.1 411 /);
    assert.match(text, /\r\nAccess-Control-Allow-Origin: https:\/\/www\.example\.com\r\n/);
  }
});

test('cross origin: endpoints with source keys or without keys allow no page to read', async () => {
  for (const [method, path, options] of [
    ['POST', '/ingest/v2/a', { key: apiKeys.source, body: { type: 't', properties: {} } }],
    ['POST', '/ingest/v2/a', { key: apiKeys.client, body: {} }],
    ['DELETE', '/ingest/v2/nobody', { key: apiKeys.source }],
    ['PATCH', '/ingest/v2', {}],
    ['GET', '/health/live', {}],
    ['GET', '/metrics', {}],
  ] as const) {
    const { headers } = await ask(method, path, page, options);
    for (const [name] of headers) assert.doesNotMatch(name, /^access-control/, `${method} ${path}`);
  }
});

test('cross origin: an invalid Origin, or several, adds nothing to the head', async () => {
  const get = 'GET /v2?url=/a HTTP/1.1\r\nHost: x\r\n';
  const heads = [narrowKey, apiKeys.client].flatMap((key) =>
    [
      'Origin: https://www.example.com, https://www.example.com',
      'Origin: https://www.example.com\tX-Injected: 1',
      'Origin: \xff\xfe',
      'Origin: https://a\x01.example.com',
      `Origin: ${stranger}\r\nOrigin: ${page}`,
    ].map((origin) => `${get}${origin}\r\nX-Api-Key: ${key}\r\n\r\n`),
  );
  // Concurrently, because some wait for a timeout.
  const answers = await Promise.all(heads.map((head) => exchange(front.port, [head])));
  for (const { text } of answers) {
    assert.doesNotMatch(text, /Injected|Allow-Origin: h/i);
    for (const raw of ['\xff', '\x01', '\t']) assert.equal(text.includes(raw), false);
  }
});

test('cross origin: too many requests of a key, and of an address, are readable by the page', async () => {
  const current = testConfiguration([{ name: 'narrow', origins, apiKeys: [narrowKey] }]);
  const busy = await startFront({
    services: { configuration: { loaded: true, current, layouts: LayoutStates.none } },
    rateLimit: 1,
    openRateLimit: 1,
  });
  const burst = async (key: string, path: string) => {
    const options = { key, headers: { Origin: page } };
    for (let tries = 0; tries < 50; tries += 1) {
      const answer = await busy.call('GET', path, options);
      if (answer.status === 429) return answer;
      await sleep(1);
    }
    return assert.fail('never too many');
  };
  try {
    for (const [key, path, allowed] of [
      [apiKeys.client, '/v2?url=/a', '*'],
      [narrowKey, '/v2?url=/a', page],
      ['unknown', '/v2?url=/a', '*'],
      ['', '/nowhere', '*'],
    ] as const) {
      const { headers } = await burst(key, path);
      assert.equal(headers.get('access-control-allow-origin'), allowed, key);
      assert.match(headers.get('access-control-expose-headers') ?? '', /Retry-After/);
      assert.notEqual(headers.get('retry-after'), null);
    }
    // A browser sends a preflight before each new URL, and behind a proxy all come from one address.
    for (let asked = 0; asked < 20; asked += 1)
      assert.equal((await busy.call('OPTIONS', '/v2', { headers: { Origin: page } })).status, 204);
  } finally {
    await busy.stop();
  }
});
