/** Receivers that respond in invalid ways, and when requests are retried. */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { AddressGuard } from '../../src/webhooks/allowed-addresses.ts';
import { NoResponseError, type Posted, post, retryDelay } from '../../src/webhooks/post.ts';
import { until } from '../support/until.ts';

const guard = new AddressGuard(['127.0.0.0/8']);
const { signal } = new AbortController();

interface RawReceiver {
  send(): Promise<Posted>;
  readonly connections: ReadonlySet<Socket>;
}

/** @param respond writes anything to a connection, once the request has begun */
async function receiver(context: TestContext, respond: (socket: Socket) => void): Promise<RawReceiver> {
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => connections.delete(socket));
    socket.once('data', () => respond(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const url = `http://127.0.0.1:${address.port}/`;
  return { send: () => post({ url, headers: {}, body: '{}' }, guard, signal), connections };
}

test('post: a 101 response counts as a response', {
  timeout: 30_000,
}, async (context) => {
  const { send, connections } = await receiver(context, (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
  });
  assert.deepEqual(await send(), { status: 101, retryAfter: null });
  await until('the connection is closed', () => connections.size === 0);
});

test('post: a response whose body never ends keeps no connection open', {
  timeout: 60_000,
}, async (context) => {
  const { send, connections } = await receiver(context, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbeginning');
  });
  for (let turn = 0; turn < 3; turn += 1) {
    assert.deepEqual(await send(), { status: 200, retryAfter: null });
    await until('the connection is closed', () => connections.size === 0, 5_000);
  }
});

test('post: an invalid response counts as no response', { timeout: 60_000 }, async (context) => {
  const responses = [
    'SSH-2.0-other\r\n',
    `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(200_000)}\r\n\r\n`,
    'HTTP/1.1 200 OK\r\n',
  ];
  for (const text of responses) {
    const { send } = await receiver(context, (socket) => socket.end(text));
    await assert.rejects(send(), NoResponseError);
  }
  const { send } = await receiver(context, (socket) => {
    socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 503 Later\r\nRetry-After: 7\r\n\r\n');
  });
  assert.deepEqual(await send(), { status: 503, retryAfter: '7' });
});

test('post: delays double from 5 s to an hour, with up to a fifth more; Retry-After overrides them', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  assert.deepEqual(
    [1, 2, 3, 4, 11, 1_000_000].map((failures) => retryDelay(failures, null, now, 0)),
    [5_000, 10_000, 20_000, 40_000, 3_600_000, 3_600_000],
  );
  assert.equal(retryDelay(1, null, now, 1), 6_000);
  assert.equal(retryDelay(5, '7', now, 0), 7_000);
  assert.equal(retryDelay(1, 'Thu, 01 Jan 2026 00:01:00 GMT', now, 0), 60_000);
  assert.equal(retryDelay(1, '0', now, 0), 1_000);
  assert.equal(retryDelay(1, '999999999999', now, 0), 86_400_000);
  assert.equal(retryDelay(1, 'soon', now, 0), 5_000);
});
