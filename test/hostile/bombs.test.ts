/** Small bodies that decompress to gigabytes, and bodies that keep decompression busy without output. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { startFront, type TestFront } from '../http/support/front.ts';
import { apiKeys } from '../http/support/site.ts';
import { until } from '../support/until.ts';

const mebibyte = 1024 * 1024;
const sampleMs = 20;
/** Maximum growth of the process during all bombs of a test, clients included. */
const growthMax = 500 * mebibyte;

let front: TestFront;
before(async () => {
  front = await startFront();
});
after(() => front.stop());

const filler = Buffer.alloc(50 * mebibyte, 'a');
const member = gzipSync(filler);

/** Concatenated gzip members are a valid gzip file, so creating a bomb takes no time. */
function bomb(start: string, times: number): Buffer {
  return Buffer.concat([gzipSync(start), ...Array<Buffer>(times).fill(member)]);
}

async function send(
  method: string,
  path: string,
  key: string,
  body: Buffer,
  coding = 'gzip',
): Promise<number> {
  const headers = { 'X-Api-Key': key, 'Content-Encoding': coding };
  const response = await fetch(`${front.url}${path}`, { method, headers, body });
  await response.text();
  return response.status;
}

async function heldBytes(): Promise<number> {
  const { text } = await front.call('GET', '/metrics');
  return Number(/^millrace_http_body_bytes\{[^}]*\} (\d+)/m.exec(text)?.[1]);
}

/** Maximum growth of the process during an action, in bytes. Other requests must be answered in the meantime. */
async function growthDuring(act: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  let isOver = false;
  const done = act().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    assert.equal((await front.call('GET', '/health/live')).status, 200);
    most = Math.max(most, process.memoryUsage.rss());
    await sleep(sampleMs);
  }
  await done;
  await until('nothing is held', async () => (await heldBytes()) === 0);
  return most - before;
}

const smallEndpoints = [
  ['POST', '/v2', apiKeys.client],
  ['POST', '/v1/x', apiKeys.client],
  ['POST', '/v1/source', apiKeys.client],
  ['DELETE', '/ingest/v2', apiKeys.source],
  ['POST', '/ingest/v2/a', apiKeys.source],
] as const;

test('bombs: 1 MB that decompresses to 1 GB is stopped at the limit, however many arrive at the same time', async () => {
  const packed = [
    ['gzip', bomb('{"handles":["', 19)],
    ['br', brotliCompressSync(filler, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
    ['deflate', deflateSync(filler)],
  ] as const;
  const growth = await growthDuring(async () => {
    for (const [method, path, key] of smallEndpoints) {
      for (const [coding, body] of packed) {
        const statuses = await Promise.all(
          Array.from({ length: 20 }, () => send(method, path, key, body, coding)),
        );
        assert.deepEqual([...new Set(statuses)], [413], `${method} ${path} ${coding}`);
      }
    }
  });
  assert.ok(growth < growthMax, `${Math.round(growth / mebibyte)} MiB`);
});

test('bombs: 10 MB that decompress to 10 GB are stopped at the limit of a bulk save', async () => {
  const body = bomb('[{"originId":"a","type":"t","properties":{"a":"', 200);
  assert.ok(body.length < 12 * mebibyte);
  const growth = await growthDuring(async () => {
    const statuses = await Promise.all([1, 2, 3].map(() => send('POST', '/ingest/v2', apiKeys.source, body)));
    // All bodies together have a budget, too. A request beyond it must be retried.
    for (const status of statuses) assert.ok(status === 413 || status === 503, String(status));
    assert.ok(statuses.includes(413));
  });
  assert.ok(growth < growthMax, `${Math.round(growth / mebibyte)} MiB`);
});

test('bombs: compressed bytes without output are limited too', async () => {
  const empty = gzipSync('');
  const body = Buffer.concat(Array<Buffer>(Math.floor((2 * mebibyte) / empty.length)).fill(empty));
  assert.equal(await send('POST', '/v2', apiKeys.client, body), 413);
  const within = body.subarray(0, empty.length * Math.floor(mebibyte / empty.length));
  assert.equal(await send('POST', '/v2', apiKeys.client, within), 422);
});
