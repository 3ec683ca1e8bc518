import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { problemShape } from '../../../src/http/routing/openapi/openapi-document.ts';
import { routeTable } from '../../../src/http/routing/route-table.ts';
import { validate } from '../../../src/http/routing/validate.ts';
import { until } from '../../support/until.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView } from '../support/seed.ts';
import { apiKeys } from '../support/site.ts';
import { exchange } from '../support/wire.ts';

let front: TestFront;
before(async () => {
  front = await startFront();
});
after(() => front.stop());

const head = (line: string, ...fields: string[]) =>
  `${[line, 'Host: x', `X-Api-Key: ${apiKeys.source}`, ...fields].join('\r\n')}\r\n\r\n`;
const live = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
const bytesOf = async (metric: string) => {
  const { text } = await front.call('GET', '/metrics');
  return Number(new RegExp(`^${metric}\\{[^}]*\\} (\\d+)`, 'm').exec(text)?.[1]);
};
const heldBytes = () => bytesOf('millrace_http_body_bytes');
const unsentBytes = () => bytesOf('millrace_http_unsent_bytes');

describe('wire: hostile and slow senders', { concurrency: true }, () => {
  test('a body without Content-Length, or a chunked one, is 411 at every endpoint', async () => {
    for (const path of [
      'POST /ingest/v2',
      'POST /ingest/v2/a',
      'POST /v2',
      'POST /v1/x',
      'DELETE /ingest/v2',
    ]) {
      const missing = await exchange(front.port, [head(`${path} HTTP/1.1`)]);
      assert.match(missing.text, /^HTTP\/1\.1 411 .*\{"status":411,"message":/s, path);
      const chunked = head(`${path} HTTP/1.1`, 'Transfer-Encoding: chunked');
      const answer = await exchange(front.port, [`${chunked}2\r\n[]\r\n0\r\n\r\n`, live], 2);
      assert.match(answer.text, /^HTTP\/1\.1 411 .*\{"status":411,"message":.*HTTP\/1\.1 200/s, path);
    }
  });

  test('a body that stalls for 10 s is 408, and its memory is freed', async () => {
    const { text, closedAfterMs } = await exchange(
      front.port,
      [head('POST /ingest/v2 HTTP/1.1', 'Content-Length: 1000'), '[{"originId":'],
      Number.POSITIVE_INFINITY,
    );
    assert.equal(statusOf(text), 408);
    assert.match(text, /"message":/);
    assert.ok(closedAfterMs !== null && closedAfterMs >= 9_900, String(closedAfterMs));
  });

  test('a client that waits for 100 Continue before its body gets it', async () => {
    const request = head('POST /ingest/v2 HTTP/1.1', 'Content-Length: 2', 'Expect: 100-continue');
    const { text } = await exchange(front.port, [request], Number.POSITIVE_INFINITY);
    assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 408 /);
  });

  test('a slow body that keeps arriving is accepted', async () => {
    const body = '[{"originId":"slow","type":"t","properties":{}}]';
    const pieces = [body.slice(0, 5), 4_000, body.slice(5, 9), 9_000, body.slice(9)];
    const { text } = await exchange(front.port, [
      head('POST /ingest/v2 HTTP/1.1', `Content-Length: ${body.length}`),
      ...pieces,
    ]);
    assert.equal(statusOf(text), 200);
  });

  test('a head that is never complete ends the connection', async () => {
    const drip = Array.from({ length: 14 }, (_, n) => [`X-${n}: 1\r\n`, 1_000]).flat();
    const { closedAfterMs } = await exchange(front.port, ['GET /v2 HTTP/1.1\r\n', ...drip]);
    // If each piece extended the timeout, the end would be 10 s after the last piece.
    assert.ok(
      closedAfterMs !== null && closedAfterMs > 7_000 && closedAfterMs < 20_000,
      String(closedAfterMs),
    );
  });

  test('garbage, oversized heads and impossible lengths are refused and affect no other client', async () => {
    const refused: [string, number][] = [
      ['\x00\x01\x02\r\n\r\n', 505],
      [head('POST /v2 HTTP/1.1', 'Content-Length: abc'), 400],
      [head('POST /v2 HTTP/1.1', 'Content-Length: -1'), 400],
      [head('POST /v2 HTTP/1.1', 'Content-Length: 99999999999999999999'), 400],
      [head('POST /v2 HTTP/1.1', 'Content-Length: 1', 'Transfer-Encoding: chunked'), 400],
      [head('GET /v2 HTTP/1.1', `X-Large: ${'x'.repeat(600_000)}`), 431],
    ];
    for (const [text, status] of refused) {
      assert.equal(statusOf((await exchange(front.port, [text])).text), status, text.slice(0, 60));
    }
    const announced = head('POST /ingest/v2 HTTP/1.1', 'Content-Length: 999999999999');
    assert.match((await exchange(front.port, [announced])).text, /^HTTP\/1\.1 413 .*s-1007/s);
    assert.equal(statusOf((await exchange(front.port, [live])).text), 200);
  });

  test('two different values of a decisive header are 400 at every endpoint, and end the connection', async () => {
    const twice: readonly [field: string, other: string][] = [
      ['Content-Length: 2', 'Content-Length: 3'],
      ['Content-Length: 0', 'Content-Length: 3'],
      ['Host: x', 'Host: y'],
      [`X-Api-Key: ${apiKeys.source}`, 'X-Api-Key: other'],
      ['Authorization: Bearer a', 'Authorization: Bearer b'],
      // Bytes that are not UTF-8 are replaced by this character.
      [`X-Api-Key: ${apiKeys.source}`, 'X-Api-Key: o\ufffdther'],
    ];
    const paths = [
      'POST /ingest/v2',
      'POST /v2',
      'GET /health/live',
      'GET /nowhere',
      'PATCH /v2',
      'OPTIONS /v2',
    ];
    for (const path of paths) {
      for (const [field, other] of twice) {
        const name = field.slice(0, field.indexOf(':'));
        const fields = [field, other, ...(name === 'Host' ? [] : ['Host: x'])];
        const request = [`${path} HTTP/1.1`, ...fields, '', ''].join('\r\n');
        const { text, closedAfterMs } = await exchange(front.port, [request], Number.POSITIVE_INFINITY);
        assert.match(text, new RegExp(`^HTTP/1\\.1 400 .*The ${name} header was sent twice`, 's'), path);
        assert.match(text, /"code":"headerRepeated"/, path);
        assert.ok(closedAfterMs !== null && closedAfterMs < 5_000, String(closedAfterMs));
        const behind = await exchange(front.port, [`${request}[]${live}`], Number.POSITIVE_INFINITY);
        assert.doesNotMatch(behind.text, /HTTP\/1\.1 200/, 'no request after it is answered');
        assert.ok(behind.closedAfterMs !== null && behind.closedAfterMs < 5_000, path);
      }
    }
  });

  test('a repeated header gets the error of the OpenAPI document at every endpoint', async () => {
    for (const route of routeTable) {
      const start = `${route.method.toUpperCase()} ${route.path.replaceAll(/\{\w+\}/g, 'x')} HTTP/1.1`;
      const request = [start, 'Host: x', 'X-Api-Key: a', 'X-Api-Key: b', '', ''].join('\r\n');
      const { text } = await exchange(front.port, [request]);
      const shape = route.answers[400]?.shape ?? problemShape(route, 400) ?? {};
      const json = JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
      assert.deepEqual([validate(shape, json, 5), json.code], [[], 'headerRepeated'], start);
    }
  });

  test('a header that is repeated with the same value counts once', async () => {
    const fields = ['Content-Length: 2', `X-Api-Key: ${apiKeys.source}`, 'Host: x'];
    const request = [head('POST /ingest/v2 HTTP/1.1', ...fields), '[]'];
    assert.equal(statusOf((await exchange(front.port, request)).text), 200);
  });

  test('a URL with thousands of ids in its query is read completely', async () => {
    const ids = Array.from({ length: 3000 }, (_, n) => `id=gid%3A%2F%2Fnothing-${n}`).join('&');
    const { status, json } = await front.call('GET', `/v2?${ids}`, { key: apiKeys.client });
    assert.deepEqual([status, json.views], [200, {}]);
  });

  test('HEAD is answered like GET without the body, and the connection stays open', async (context) => {
    // A body after the head would be the start of the next answer.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    // A random share of the answers without a body end the connection (`bodiless-answers.test.ts`).
    context.mock.method(Math, 'random', () => 0.5);
    const paths = ['/health/live', '/openapi.json', '/v2?handle=h', '/v2', '/ingest/v2', '/nowhere'];
    for (const path of paths) {
      const [got, headAnswer] = [await ask(agent, 'GET', path), await ask(agent, 'HEAD', path)];
      assert.deepEqual({ ...headAnswer, text: got.text }, { ...got, wasReused: true }, path);
      assert.equal(headAnswer.text, '', path);
    }
    agent.destroy();
  });

  test('an answer is UTF-8, even if all its letters are in Latin-1', async () => {
    const body = JSON.stringify([{ originId: 'café', type: 't', properties: {} }]);
    const sent = Buffer.from(body).toString('latin1');
    const request = head('POST /ingest/v2 HTTP/1.1', `Content-Length: ${sent.length}`);
    const { text } = await exchange(front.port, [request, sent]);
    assert.match(Buffer.from(text, 'latin1').toString(), /"changedSourceEntities":\["café"\].*\}$/s);
  });

  test('one connection serves request after request', async () => {
    const { text } = await exchange(front.port, [live, 100, live, 100, live], 3);
    assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 3);
  });

  test('a slow client gets a large answer completely, one that disappears costs nothing', async () => {
    await putView(front.store, 'large', 'z'.repeat(20_000_000));
    await putClaim(front.store, 'large', { handle: 'large' });
    const request = `GET /v2?handle=large HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKeys.client}\r\n\r\n`;
    const socket = connect(front.port, '127.0.0.1');
    socket.pause();
    socket.write(request);
    await until('the rest waits for the client', async () => (await unsentBytes()) > 0);
    let bytes = 0;
    const whole = new Promise<void>((resolve) => {
      socket.on('data', (piece) => {
        bytes += piece.length;
        if (bytes > 20_000_000) resolve();
      });
    });
    socket.resume();
    await whole;
    socket.destroy();
    await until('all is sent', async () => (await unsentBytes()) === 0);
    const gone = connect(front.port, '127.0.0.1');
    gone.write(request);
    await until('its answer waits', async () => (await unsentBytes()) > 0);
    gone.destroy();
    await until('nothing is waiting', async () => (await unsentBytes()) === 0);
    assert.equal(statusOf((await exchange(front.port, [live])).text), 200);
  });
});

test('wire: dropped bodies hold no memory', async () => {
  await until('nothing is held', async () => (await heldBytes()) === 0);
  assert.equal(front.server.active, 0);
});

async function ask(agent: Agent, method: string, path: string) {
  const sent = request({ agent, port: front.port, method, path, headers: { 'X-Api-Key': apiKeys.client } });
  sent.end();
  const [response] = await once(sent, 'response');
  const text: string = (await response.setEncoding('utf8').toArray()).join('');
  const { date: _, 'x-request-id': __, ...headers } = response.headers;
  return { status: response.statusCode, headers, text, wasReused: sent.reusedSocket };
}
