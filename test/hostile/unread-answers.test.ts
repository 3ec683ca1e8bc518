/** Clients that send requests and do not read (docs/reference/http.md "Bad input and slow clients"). */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { defaultFrontLimits } from '../../src/contract/front-limits.ts';
import { AnswerCache } from '../../src/http/cache/answer-cache.ts';
import { startFront, type TestFront } from '../http/support/front.ts';
import { putClaim, putView } from '../http/support/seed.ts';
import { apiKeys } from '../http/support/site.ts';
import { exchange, pause } from '../http/support/wire.ts';
import { LongestTurn } from '../support/turns.ts';
import { until } from '../support/until.ts';

const mebibyte = 1024 * 1024;
const answersMax = 30 * mebibyte;
const pageBytes = 25 * mebibyte;
const slowBytes = 8 * mebibyte;
/** docs/promises.md has 100 ms for what one client adds. Here, front and clients share an event loop, on a busy machine. */
const turnMsMax = 200;

let front: TestFront;
before(async () => {
  front = await startFront({
    services: {
      cache: new AnswerCache(1024 * mebibyte),
      limits: { ...defaultFrontLimits, unsentAnswersBytes: answersMax },
    },
    openRateLimit: 0,
  });
  for (const [name, bytes] of [
    ['large', pageBytes],
    ['slow', slowBytes],
    ['middle', 300_000],
    ['small', 3_000],
  ] as const) {
    await putView(front.store, name, name.padEnd(bytes, 'x'));
    await putClaim(front.store, name, { handle: name });
  }
});
after(() => front.stop());

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const getPage = (handle: string, more = '') =>
  get(`/v2?handle=${handle}`, `X-Api-Key: ${apiKeys.client}\r\n${more}`);

/** Without compression, which would make these pages small. */
const ask = (handle: string) =>
  front.call('GET', `/v2?handle=${handle}`, {
    key: apiKeys.client,
    headers: { 'Accept-Encoding': 'identity' },
  });

/** A client that sends requests and reads nothing. */
function mute(text: string): Socket {
  const socket = connect(front.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(text, 'latin1');
  return socket;
}

/** @param label a label that its line must have */
async function metric(name: string, label = ''): Promise<number> {
  const { text } = await front.call('GET', '/metrics');
  return Number(new RegExp(`^${name}\\{[^}]*${label}[^}]*\\} (\\d+)`, 'm').exec(text)?.[1]);
}

/** Growth of the peak memory of this process, in MB, until the front has finished its work. */
async function growthWith(clients: () => readonly Socket[]): Promise<number> {
  const before = process.resourceUsage().maxRSS;
  const sockets = clients();
  let quiet = 0;
  await until('the front is idle', async () => {
    const busy = process.cpuUsage();
    await pause(50);
    const { user, system } = process.cpuUsage(busy);
    quiet = user + system < 10_000 ? quiet + 1 : 0;
    return quiet >= 4;
  });
  for (const socket of sockets) socket.destroy();
  return (process.resourceUsage().maxRSS - before) / 1024;
}

/** Reads a response slowly for a while, then as fast as it can. @returns its bytes until the end */
async function readSlowly(text: string, slowMs: number): Promise<number> {
  const socket = connect(front.port, '127.0.0.1');
  socket.write(text, 'latin1');
  const slowUntilMs = performance.now() + slowMs;
  let bytes = 0;
  for await (const piece of socket) {
    bytes += (piece as Buffer).length;
    if (performance.now() < slowUntilMs) await pause(250);
  }
  return bytes;
}

describe('clients that do not read', { concurrency: false }, () => {
  for (const [name, request] of [
    ['the document', get('/openapi.json')],
    ['small pages', getPage('small')],
    ['unknown paths', get('/nothing')],
    ['heads', get('/openapi.json').replace('GET', 'HEAD')],
    ['preflights', get('/v2').replace('GET', 'OPTIONS')],
  ] as const) {
    test(`1 MB of requests for ${name} on each of ten connections costs less than 100 MB of memory`, async () => {
      await exchange(front.port, [getPage('small')]);
      const burst = request.repeat(Math.ceil(mebibyte / request.length));
      const growth = await growthWith(() => Array.from({ length: 10 }, () => mute(burst)));
      // For the read buffer of the front, and uncollected garbage.
      assert.ok(growth < 100, `grew by ${growth} MB`);
      assert.equal((await front.call('GET', '/health/live')).status, 200);
    });
  }

  for (const [name, request] of [
    ['the smallest answers', get('/health/live')],
    ['mistakes', get('/v2', `X-Api-Key: ${apiKeys.client}\r\n`)],
    ['wrong methods', get('/v2').replace('GET', 'OPTIONS')],
  ] as const) {
    test(`1 MB of requests for ${name} on each of ten connections does not delay others`, async (context) => {
      await exchange(front.port, [getPage('small')]);
      const burst = request.repeat(Math.ceil(mebibyte / request.length));
      const turns = new LongestTurn(context);
      const sockets = Array.from({ length: 10 }, () => mute(burst));
      const statuses = new Set<number>();
      for (let asked = 0; asked < 20; asked += 1)
        statuses.add((await front.call('GET', '/health/live')).status);
      const longestMs = turns.stop();
      for (const socket of sockets) socket.destroy();
      assert.deepEqual([...statuses], [200]);
      assert.ok(longestMs < turnMsMax, `the event loop was kept for ${Math.round(longestMs)} ms`);
    });
  }

  test('a client that sends requests and reads nothing is answered until the connection is full', async () => {
    const socket = mute('');
    const answeredBefore = await metric('millrace_http_requests_total', 'endpoint="openapi"');
    for (let sent = 0; sent < 3_000 && !socket.destroyed; sent += 1) {
      socket.write(get('/openapi.json'), 'latin1');
      if (sent % 50 === 0) await pause(1);
    }
    socket.destroy();
    const answered = (await metric('millrace_http_requests_total', 'endpoint="openapi"')) - answeredBefore;
    assert.ok(answered > 0 && answered < 500, `${answered} answers of 56 KB`);
  });

  test('a front holds a bounded amount; clients that do not read are disconnected, slow readers are not', async () => {
    const cutOffBefore = await metric('millrace_http_unsent_cut_off_total');
    const steady = readSlowly(getPage('slow', 'Connection: close\r\n'), 13_000);
    const idle = mute(getPage('large'));
    await until(
      'the large page waits for its client',
      async () => (await metric('millrace_http_unsent_bytes')) > 15 * mebibyte,
    );
    const refused = await ask('large');
    assert.deepEqual([refused.status, refused.json.meta], [503, { status: 503 }]);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal(await metric('millrace_http_unsent_refused_total'), 1);
    for (const handle of ['middle', 'small']) {
      const { status } = await ask(handle);
      assert.equal(status, 200, handle);
    }
    assert.equal(await metric('millrace_http_unsent_cut_off_total'), cutOffBefore);
    await until(
      'the client that does not read is cut off',
      async () => (await metric('millrace_http_unsent_cut_off_total')) === cutOffBefore + 1,
    );
    assert.ok((await steady) > slowBytes);
    idle.destroy();
    await until('nothing is waiting', async () => (await metric('millrace_http_unsent_bytes')) === 0);
    assert.equal(await metric('millrace_http_unsent_cut_off_total'), cutOffBefore + 1);
    assert.equal((await ask('large')).status, 200);
    assert.equal(front.server.active, 0);
  });
});
