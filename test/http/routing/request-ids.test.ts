/** Codes of errors, and request ids (docs/reference/http.md "Error bodies"). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { problems } from '../../../src/contract/errors.ts';
import { createLog } from '../../../src/http/log.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { apiKeys } from '../support/site.ts';

let front: TestFront;
before(async () => {
  front = await startFront({ openRateLimit: 0 });
});
after(() => front.stop());

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('errors: each shape has the code of the catalogue next to its own members', async () => {
  const { client, source } = apiKeys;
  for (const [method, path, options, status, members, code] of [
    ['GET', '/nothing', {}, 404, ['status', 'message', 'code'], 'pathUnknown'],
    ['PUT', '/v2', {}, 405, ['status', 'message', 'code'], 'methodWrong'],
    ['GET', '/v2', {}, 401, ['meta', 'message', 'code'], 'keyMissing'],
    ['GET', '/v2', { key: client }, 422, ['meta', 'message', 'code'], 'nothingAsked'],
    ['GET', '/routes/v1', { key: client }, 422, ['status', 'message', 'code'], 'pageSizeInvalid'],
    ['GET', '/changes/v1?since=x', { key: client }, 410, ['status', 'message', 'code'], 'offsetGone'],
    ['POST', '/v1/x', { body: {} }, 401, ['error', 'code'], 'keyMissing'],
    [
      'POST',
      '/v1/x',
      { key: client, body: '[' },
      400,
      ['message', 'errors', 'status', 'code'],
      'queryInvalid',
    ],
    ['GET', '/management/v1/tenant', {}, 401, ['status', 'message', 'code'], 'keyMissing'],
    [
      'POST',
      '/ingest/v2',
      { key: source, body: '{}' },
      422,
      ['status', 'message', 'errorCode', 'errors', 'code'],
      'bulkNotArray',
    ],
    [
      'DELETE',
      '/ingest/v2/x',
      { key: source },
      404,
      ['status', 'message', 'errors', 'code'],
      'entityNotFound',
    ],
    ['POST', '/mcp', { body: {} }, 401, ['status', 'message', 'code'], 'keyMissing'],
  ] as const) {
    const answer = await front.call(method, path, options);
    assert.deepEqual([answer.status, answer.json?.code], [status, code], `${method} ${path} ${answer.text}`);
    assert.deepEqual(Object.keys(answer.json), members, `${method} ${path}`);
    assert.ok(code in problems);
  }
});

test('request ids: the id from the client is on every answer, otherwise a new one', async () => {
  const longest = 'x'.repeat(128);
  for (const [method, path] of [
    ['GET', '/health/live'],
    ['GET', '/nothing'],
    ['OPTIONS', '/v2'],
    ['HEAD', '/openapi.json'],
    ['GET', '/v2'],
    ['POST', '/v1/x'],
  ] as const) {
    for (const sent of ['a-1_~!', longest]) {
      const { headers } = await front.call(method, path, { headers: { 'X-Request-Id': sent } });
      assert.equal(headers.get('x-request-id'), sent, `${method} ${path}`);
    }
    const made = new Set<string | null>();
    for (const sent of ['', 'a b', `${longest}x`, 'é']) {
      const { headers } = await front.call(method, path, { headers: { 'X-Request-Id': sent } });
      assert.match(headers.get('x-request-id') ?? '', /^[\x21-\x7e]{1,128}$/, `${method} ${path}`);
      made.add(headers.get('x-request-id'));
    }
    assert.equal(made.size, 4, 'each is new');
  }
});

test('request ids: a 5xx has it in its body', async () => {
  const { status, json, headers } = await front.call('POST', '/v1/x', {
    key: apiKeys.client,
    body: {},
    headers: { 'X-Request-Id': 'find-me' },
  });
  assert.deepEqual([status, json.code, json.requestId], [503, 'unavailable', 'find-me']);
  assert.equal(headers.get('x-request-id'), 'find-me');
});

test('request ids: the log line of a request has them', async (context) => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const logged = await startFront({ log: createLog('web', 'debug', { write }) });
  context.after(() => logged.stop());
  await logged.call('GET', '/health/live', { headers: { 'X-Request-Id': 'seen', traceparent } });
  await logged.call('GET', '/health/live', { headers: { 'X-Request-Id': 'odd', traceparent: 'secret' } });
  const found = lines.map((line) => JSON.parse(line));
  assert.equal(found.find(({ requestId }) => requestId === 'seen')?.traceparent, traceparent);
  assert.equal(found.find(({ requestId }) => requestId === 'odd')?.traceparent, null);
});

test('request ids: pages of other origins can send and read them', async () => {
  const preflight = await front.call('OPTIONS', '/v2', { headers: { Origin: 'https://x.example' } });
  const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').split(', ');
  assert.ok(allowed.includes('X-Request-Id') && allowed.includes('traceparent'));
  const { headers } = await front.call('GET', '/v2', { headers: { Origin: 'https://x.example' } });
  assert.ok(headers.get('access-control-expose-headers')?.split(', ').includes('X-Request-Id'));
});
