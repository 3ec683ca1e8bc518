import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createLog } from '../../src/http/log.ts';
import { RouteTimes, requestText } from '../../src/http/request-record.ts';
import { until } from '../support/until.ts';
import { startFront } from './support/front.ts';
import { apiKeys } from './support/site.ts';

interface Line {
  readonly method: string;
  readonly route: string | null;
  readonly tenant: string | null;
  readonly status: number | null;
  readonly problem: string | null;
  readonly bytes: number | null;
  readonly ms: number;
}

test('request record: at debug the log has a line for each request, without its URL and its key', async (context) => {
  let text = '';
  const write = (line: string) => {
    text += line;
  };
  const front = await startFront({ log: createLog('web', 'debug', { write }) });
  context.after(() => front.stop());
  const lines = (): Line[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  const entity = { type: 't', properties: { secret: 'the-entity-s-own' } };
  const saved = await front.call('POST', '/ingest/v2/an-origin-id', { key: apiKeys.source, body: entity });
  const live = await front.call('GET', '/health/live');
  await front.call('HEAD', '/openapi.json');
  await front.call('GET', '/v2?url=/a-page', { key: apiKeys.client });
  await front.call('GET', '/v2?url=/a-page', { key: 'key-of-nobody' });
  await front.call('GET', '/no/such/path');
  await front.call('PATCH', '/v2');
  const big = await front.call('GET', '/openapi.json');

  const shown = lines().map(({ method, route, tenant, status, problem }) => [
    method,
    route,
    tenant,
    status,
    problem,
  ]);
  assert.deepEqual(shown, [
    ['POST', '/ingest/v2/{originId}', 'one', 200, null],
    ['GET', '/health/live', null, 200, null],
    ['HEAD', '/openapi.json', null, 200, null],
    ['GET', '/v2', 'one', 200, null],
    ['GET', '/v2', null, 401, 'keyUnknown'],
    ['GET', null, null, 404, 'pathUnknown'],
    ['PATCH', null, null, 405, 'methodWrong'],
    ['GET', '/openapi.json', null, 200, null],
  ]);
  const bytes = lines().map((line) => line.bytes);
  assert.deepEqual(
    [bytes[0], bytes[1], bytes[2], bytes[7]],
    [saved.text.length, live.text.length, 0, Buffer.byteLength(big.text)],
  );
  for (const { ms } of lines()) assert.ok(ms >= 0 && ms < 60_000, String(ms));
  for (const secret of [
    apiKeys.source,
    apiKeys.client,
    'key-of-nobody',
    'an-origin-id',
    'a-page',
    'the-entity-s-own',
  ]) {
    assert.ok(!text.includes(secret), secret);
  }

  text = '';
  const head = `POST /ingest/v2 HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKeys.source}\r\nContent-Length: 9\r\n\r\n[`;
  const socket = connect({ port: front.port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.write(head);
  await front.call('GET', '/health/live');
  await until('the front has the head', async () => front.server.active === 1);
  socket.destroy();
  await until('the front has noticed that the client is gone', () =>
    lines().some(({ status }) => status === null),
  );
});

test('request record: at info nothing is written for a request', async (context) => {
  let text = '';
  const log = createLog('web', 'info', {
    write: (line: string) => {
      text += line;
    },
  });
  const front = await startFront({ log });
  context.after(() => front.stop());
  assert.equal((await front.call('GET', '/health/live')).status, 200);
  assert.equal(text, '');
  assert.equal(log.writesDebug, false);
});

test('request record: every request is counted and timed', () => {
  const times = new RouteTimes('endpoint="e"');
  times.observe(200, 2);
  times.observe(503, 600);
  times.observe(304, 4);
  times.observe(200, 4);
  const text = requestText([times]);
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const sampleOf = (name: string) => samples.find((line) => line.startsWith(name))?.split(' ')[1];
  const total = 'millrace_http_requests_total{endpoint="e",status=';
  assert.deepEqual(
    samples.filter((line) => line.startsWith(total)),
    [`${total}"200"} 2`, `${total}"304"} 1`, `${total}"503"} 1`],
  );
  const duration = 'millrace_http_request_duration_seconds';
  assert.equal(sampleOf(`${duration}_count`), '4');
  assert.equal(sampleOf(`${duration}_sum`), String((2 + 600 + 4 + 4) / 1000));
  assert.equal(sampleOf(`${duration}_bucket{endpoint="e",le="0.005"}`), '3');
  assert.equal(sampleOf(`${duration}_bucket{endpoint="e",le="+Inf"}`), '4');
});
