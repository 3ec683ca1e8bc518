import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chooseCoding } from '../../src/http/content-coding.ts';
import { problemShape } from '../../src/http/routing/openapi/openapi-document.ts';
import { routeTable } from '../../src/http/routing/route-table.ts';
import { validate } from '../../src/http/routing/validate.ts';
import { startFront, type TestFront } from './support/front.ts';
import { apiKeys } from './support/site.ts';
import { exchange } from './support/wire.ts';

let front: TestFront;
before(async () => {
  front = await startFront();
});
after(() => front.stop());

const withBody = routeTable.filter(
  ({ body, access }) => body !== undefined && (access.kind === 'source' || access.kind === 'client'),
);
const body = '{"type":"t","properties":{}}';
const packed = gzipSync(body).toString('latin1');

/** A request with a body, and a second one that shows where the server ends the first. */
async function send(path: string, method: string, key: string, coding: string, sent: string) {
  const head = `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'x')} HTTP/1.1`;
  const fields = [`X-Api-Key: ${key}`, `Content-Encoding: ${coding}`, `Content-Length: ${sent.length}`];
  const first = `${[head, 'Host: x', ...fields].join('\r\n')}\r\n\r\n${sent}`;
  const { text } = await exchange(front.port, [first, 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'], 2);
  const [, status, json = ''] = /^HTTP\/1\.1 (\d+) .*?\r\n\r\n(.*?)HTTP\/1\.1 200/s.exec(text) ?? [];
  return { status: Number(status), json: json === '' ? null : JSON.parse(json), text };
}

test('content coding: a body in an unknown coding is 415 in the shape of its endpoint, and says what to do', async () => {
  assert.ok(withBody.length >= 6);
  for (const route of withBody) {
    const key = route.access.kind === 'source' ? apiKeys.source : apiKeys.client;
    for (const coding of ['zstd', 'compress', 'gzip, gzip', 'x']) {
      const { status, json, text } = await send(route.path, route.method, key, coding, packed);
      assert.equal(status, 415, `${route.name} ${coding}: ${text}`);
      const shape = problemShape(route, 415);
      assert.ok(shape !== null && validate(shape, json, 5).length === 0, JSON.stringify(json));
      assert.match(JSON.stringify(json), /Content-Encoding .* is not supported\. Send gzip, br or deflate/);
    }
  }
});

test('content coding: a body with the coding "identity" is read unchanged', async () => {
  for (const coding of ['identity', 'Identity']) {
    const headers = { 'Content-Encoding': coding };
    const { status, text } = await front.call('POST', '/ingest/v2/x', { key: apiKeys.source, body, headers });
    assert.equal(status, 200, text);
  }
});

test('content coding: a missing key is reported first', async () => {
  const { status } = await send('/ingest/v2', 'post', 'nobody', 'gzip', packed);
  assert.equal(status, 401);
});

test('content coding: the coding with the highest weight of the client is used', () => {
  const cases: [string, string][] = [
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['identity, gzip;q=0.5', 'identity'],
    ['GZIP ; q=0.3', 'gzip'],
    ['br;q=x', 'identity'],
    ['deflate', 'identity'],
    ['x-gzip', 'gzip'],
    ['gzip;q=0, x-gzip', 'identity'],
  ];
  for (const [header, coding] of cases) assert.equal(chooseCoding(header), coding, header);
});
