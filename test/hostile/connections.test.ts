/** Connections that send wrong lengths, stop halfway, send too much, or never end. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startFront, type TestFront } from '../http/support/front.ts';
import { putClaim, putView } from '../http/support/seed.ts';
import { apiKeys } from '../http/support/site.ts';
import { exchange, pause } from '../http/support/wire.ts';

let front: TestFront;
before(async () => {
  front = await startFront();
});
after(() => front.stop());

const live = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
const save = (originId: string, length: number, body: string) =>
  `POST /ingest/v2/${originId} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKeys.source}\r\nContent-Length: ${length}\r\n\r\n${body}`;
const entity = '{"type":"t","properties":{}}';
const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

async function answersOthers(): Promise<void> {
  assert.deepEqual(statusesOf((await exchange(front.port, [live])).text), [200]);
}

describe('hostile connections', { concurrency: true }, () => {
  test('data after a request, or a body longer than its Content-Length, ends only that connection', async () => {
    const pieces = [
      `${save('pipelined', entity.length, entity)}${live}\x00\x01GARBAGE\r\n\r\n`,
      `${live}${live}GARBAGE\r\n\r\n`,
      save('short', 10, entity),
    ];
    for (const piece of pieces) {
      const { text, closedAfterMs } = await exchange(front.port, [piece], Number.POSITIVE_INFINITY);
      assert.ok(!statusesOf(text).includes(500), text);
      assert.ok(closedAfterMs !== null);
      await answersOthers();
    }
  });

  test('several Content-Length fields never make two requests', async () => {
    const head = save('twice', entity.length, '').replace('\r\n\r\n', `\r\nContent-Length: 1\r\n\r\n`);
    const { text } = await exchange(front.port, [`${head}${entity}`, 300]);
    assert.ok(statusesOf(text).length <= 1, text);
    assert.ok(!text.includes(' 500 '));
  });

  test('the request of a client that disconnects in the middle of its body is not executed', async () => {
    const { connect } = await import('node:net');
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const socket = connect(front.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(save('gone', 1_000_000, '{"type":"t","properties":{"a":"'));
      await pause(20);
      socket.destroy();
    }
    const { status } = await front.call('DELETE', '/ingest/v2/gone', { key: apiKeys.source });
    assert.equal(status, 404);
  });

  test('300 clients that stop in the middle of head or body do not block others, and are disconnected after 10 s', async () => {
    const halves: (readonly [text: string, statuses: readonly number[]])[] = [
      ['GET /v2?handle=x HTTP/1.1\r\nHost: x\r\nX-Api-', []],
      // A complete head, but the HTTP library waits for a field (docs/reference/http.md).
      ['GET /health/live HTTP/1.1\r\n\r\n', []],
      [save('slow', 1000, '{"type":'), [408]],
      [save('slow', 1000, ''), [408]],
    ];
    const clients = Array.from({ length: 300 }, (_, number) =>
      exchange(front.port, [halves[number % halves.length]?.[0] ?? ''], Number.POSITIVE_INFINITY),
    );
    let sentAway = 0;
    for (const client of clients) void client.then(() => (sentAway += 1));
    await pause(500);
    await answersOthers();
    assert.equal(sentAway, 0, 'others get responses while all of them are connected');
    const outcomes = await Promise.all(clients);
    for (const [number, { text, closedAfterMs }] of outcomes.entries()) {
      assert.ok(closedAfterMs !== null && closedAfterMs > 7_000, `${number}: ${closedAfterMs}`);
      assert.deepEqual(statusesOf(text), halves[number % halves.length]?.[1], text);
    }
    await answersOthers();
  });

  test('a URL of 4,096 characters is looked up, and a longer one is rejected', async () => {
    const url = `/${'ä'.repeat(4095)}`;
    await putView(front.store, 'long', 'long');
    await putClaim(front.store, 'long', { url });
    const found = await front.call('GET', `/v2?url=${encodeURIComponent(url)}`, { key: apiKeys.client });
    assert.deepEqual([found.status, found.json.route?.title], [200, 'long']);
    const refused = await front.call('GET', `/v2?url=${encodeURIComponent(`${url}x`)}`, {
      key: apiKeys.client,
    });
    assert.deepEqual([refused.status, refused.json.meta], [422, { status: 422 }]);
  });

  test('a GET with 10,000 short ids is answered', async () => {
    // Short ids, because the HTTP library needs the whole first line in one read (uWebSockets issue 1776).
    const ids = Array.from({ length: 10_000 }, (_, number) => `id=${(number % 36).toString(36)}`).join('&');
    const { status, json } = await front.call('GET', `/v2?${ids}`, { key: apiKeys.client });
    assert.deepEqual([status, json.views], [200, {}]);
  });

  test('heads with very many or very large fields are rejected and affect no other connection', async () => {
    const many = Array.from({ length: 5_000 }, (_, number) => `X-${number}: y\r\n`).join('');
    for (const fields of [many, `X-Large: ${'x'.repeat(300_000)}\r\n`, `${'X'.repeat(100_000)}: y\r\n`]) {
      const { text } = await exchange(front.port, [`GET /health/live HTTP/1.1\r\nHost: x\r\n${fields}\r\n`]);
      assert.ok(
        statusesOf(text).every((status) => [200, 400, 431].includes(status)),
        text.slice(0, 100),
      );
    }
    await answersOthers();
  });
});

test('hostile connections: leave no open requests and no body bytes behind', async () => {
  const heldBytes = async () =>
    Number(/^millrace_http_body_bytes\{[^}]*\} (\d+)/m.exec((await front.call('GET', '/metrics')).text)?.[1]);
  for (let attempt = 0; attempt < 30 && (await heldBytes()) > 0; attempt += 1) await pause(100);
  assert.equal(await heldBytes(), 0);
  assert.equal(front.server.active, 0);
});
