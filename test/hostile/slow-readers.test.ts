/** Clients that read large answers at several speeds: what the front holds, and whom it disconnects. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { until } from '../support/until.ts';
import type { Client } from '../system/support/client.ts';
import { requireOk } from '../system/support/feed-copy.ts';
import { System } from '../system/support/processes/system.ts';
import { clientKey, siteFiles, sourceKey } from '../system/support/site.ts';

const mebibyte = 1024 * 1024;
const parts = 7;
const readersCount = 15;
const answersMb = 100;
/** Memory besides the answers: for building three of them concurrently, and for uncollected garbage. */
const workingMb = 260;

let system: System;
let client: Client;

before(async () => {
  system = await System.start({
    jobs: 0,
    env: { ANSWERS_MB: String(answersMb), DELIVERY_CACHE_MB: '1', OPEN_RATE_LIMIT: '0' },
    files: siteFiles({
      schemas: {
        part: { triggers: { cms: ['part'] }, properties: { text: '{p.text}' } },
        page: {
          triggers: { cms: ['page'] },
          route: { handles: ['{originId}'] },
          properties: {
            parts: {
              type: 'array',
              input: '{p.parts}',
              items: { type: 'reference', alias: 'part', originId: '{item}' },
            },
          },
        },
      },
    }),
  });
  client = system.client();
  const names = Array.from({ length: parts }, (_, at) => `part${at}`);
  for (const name of names) {
    // Letters outside Latin-1, so that a string takes two bytes per letter.
    await save(name, { type: 'part', properties: { text: name.padEnd(2 * mebibyte, 'ж') } });
  }
  const version = await save('page', { type: 'page', properties: { parts: names } });
  // The same parts in another order make a different answer.
  for (let at = 0; at < readersCount; at += 1) {
    const turned = [...names.slice(at % parts), ...names.slice(0, at % parts)];
    await save(`page${at}`, { type: 'page', properties: { parts: turned } });
  }
  const headers = { 'X-Service-Min-Version': version, 'Accept-Encoding': 'identity' };
  const page = requireOk(await client.get('/v2?handle=page', { key: clientKey, headers }));
  assert.ok(page.text.length > parts * 2 * mebibyte);
});
after(() => system.stop());

async function save(originId: string, entity: object): Promise<string> {
  const answer = requireOk(await client.post(`/ingest/v2/${originId}`, { ...entity }, { key: sourceKey }));
  return String(answer.headers['x-service-version']);
}

async function metric(name: string): Promise<number> {
  const { text } = await client.get('/metrics');
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'm').exec(text)?.[1]);
}

/** Memory of the front, in MB. */
function memoryOf(line: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${system.process('web.1').pid}/status`, 'latin1');
  return Number(new RegExp(`^${line}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
}

/** Resets `VmHWM` to the current memory of the front. */
function forgetPeak(): void {
  writeFileSync(`/proc/${system.process('web.1').pid}/clear_refs`, '5');
}

class SlowReader {
  bytes = 0;
  isClosed = false;
  readonly #socket: Socket;
  readonly #timer: NodeJS.Timeout;

  /** @param bytes read at each interval of `everyMs` */
  constructor(request: string, bytes: number, everyMs: number) {
    const onread = {
      buffer: Buffer.alloc(bytes),
      callback: (count: number) => {
        this.bytes += count;
        return false;
      },
    };
    const { hostname, port } = new URL(system.url());
    this.#socket = connect({ host: hostname, port: Number(port), onread });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.isClosed = true;
    });
    this.#socket.write(request, 'latin1');
    this.#timer = setInterval(() => this.#socket.resume(), everyMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#socket.destroy();
  }
}

const head = (line: string, more = '') =>
  `${line} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${clientKey}\r\n${more}\r\n`;
const page = head('GET /v2?handle=page');
const stream = head('GET /v2?handle=page', 'Accept: text/event-stream\r\n');
function stop(readers: readonly SlowReader[]): void {
  for (const reader of readers) reader.stop();
}

const slow = (request: string) => new SlowReader(request, 1024, 3_000);

for (const [pages, requestAt] of [
  ['one large page', () => page],
  ['large pages, each of another one,', (at: number) => head(`GET /v2?handle=page${at}`)],
] as const) {
  test(`unsent answers: slow readers of ${pages} are disconnected and the front holds at most ANSWERS_MB`, async (context) => {
    const cutOffBefore = await metric('millrace_http_unsent_cut_off_total');
    const memoryBefore = memoryOf('VmRSS');
    forgetPeak();
    const readers = Array.from({ length: readersCount }, (_, at) => slow(requestAt(at)));
    context.after(() => stop(readers));
    let mostUnsent = 0;
    await until('the slow readers are cut off', async () => {
      const unsent = await metric('millrace_http_unsent_bytes');
      mostUnsent = Math.max(mostUnsent, unsent);
      return mostUnsent > 0 && unsent === 0;
    });
    assert.ok(mostUnsent <= answersMb * mebibyte, `${mostUnsent} bytes unsent`);
    assert.ok((await metric('millrace_http_unsent_cut_off_total')) > cutOffBefore);
    const grown = Math.round(memoryOf('VmHWM') - memoryBefore);
    context.diagnostic(`the front grew by ${grown} MB, with ${Math.round(mostUnsent / mebibyte)} MB unsent`);
    assert.ok(grown < answersMb + workingMb, `the front grew by ${grown} MB`);
  });
}

test('event streams: slow readers of a live answer are disconnected, and steady ones are not', async (context) => {
  const cutOffBefore = await metric('millrace_http_streams_cut_off_total');
  const steady = Array.from({ length: 3 }, () => new SlowReader(stream, 64 * 1024, 1_000));
  const readers = [...steady, ...Array.from({ length: 5 }, () => slow(stream))];
  context.after(() => stop(readers));
  await until('all streams are open', async () => (await metric('millrace_http_streams')) === 8);
  await until(
    'the slow ones are cut off',
    async () => (await metric('millrace_http_streams_cut_off_total')) === cutOffBefore + 5,
    60_000,
  );
  assert.equal(await metric('millrace_http_streams'), 3);
  assert.ok(steady.every(({ isClosed, bytes }) => !isClosed && bytes > 64 * 1024));
});

test('unsent answers: a reader of 8 KB in 10 s is disconnected, a steady one is not', async (context) => {
  const cutOffBefore = await metric('millrace_http_unsent_cut_off_total');
  const steady = new SlowReader(page, 64 * 1024, 1_000);
  const slower = new SlowReader(page, 8 * 1024, 10_000);
  context.after(() => stop([steady, slower]));
  await until(
    'the slower one is cut off',
    async () => (await metric('millrace_http_unsent_cut_off_total')) === cutOffBefore + 1,
    60_000,
  );
  assert.ok((await metric('millrace_http_unsent_bytes')) > 0, 'the steady reader is still connected');
});
