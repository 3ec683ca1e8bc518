/** A bulk body of the maximum size: the front holds it in memory at most twice, and keeps answering other requests. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bulkBodyBytesMax, entityBytesMax } from '../../../src/contract/limits.ts';
import type { Client } from '../support/client.ts';
import { System } from '../support/processes/system.ts';
import { siteFiles, sourceId, sourceKey } from '../support/site.ts';

/** Memory for reading one entity of 4 MB, besides the bodies: two heaps, and buffers not yet collected. */
const workingBytes = 160 * 1024 * 1024;
const sampleMs = 10;
const pauseMs = 2;

/** The maximum with MILLRACE_DATA=1, otherwise half of it. */
const bodyBytes = process.env.MILLRACE_DATA === '1' ? bulkBodyBytesMax : bulkBodyBytesMax / 2;

/** No views are built from the entities, so that only the front is measured. */
const source = { id: sourceId, name: 'CMS', environments: ['production'], apiKeys: [sourceKey] };
const files = siteFiles({ settings: { sourceGroups: [{ alias: 'cms', sources: [source] }] } });

let system: System;
let client: Client;

before(async () => {
  // `npm run web` limits the young generation of each heap, which may take 128 MB by default in Node 24. This is the default of
  // Node 20.
  system = await System.start({ jobs: 0, files, env: { NODE_OPTIONS: '--max-semi-space-size=16' } });
  client = system.client();
});
after(() => system.stop());

/** A body of 50 entities, `bytes` long. */
function bulkBody(name: string, bytes: number): Buffer {
  const count = 50;
  const entityBytes = Math.floor((bytes - count - 1) / count);
  assert.ok(entityBytes <= entityBytesMax);
  const row = JSON.stringify({
    id: 12345678,
    label: 'a label of some length',
    tags: ['one', 'zwei'],
    n: 1.5,
  });
  const entities = Array.from({ length: count }, (_, at) => {
    const head = `{"originId":"${name}-${at}","type":"large","properties":{"rows":[${row}`;
    const tail = '],"rest":"';
    const room = entityBytes - head.length - tail.length - 3;
    const rows = `,${row}`.repeat(Math.floor(room / (row.length + 1)));
    return `${head}${rows}${tail}${'x'.repeat(room - rows.length)}"}}`;
  });
  const text = `[${entities.join(',')}]`;
  return Buffer.from(text + ' '.repeat(bytes - text.length));
}

function residentBytes(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

async function save(body: Buffer): Promise<void> {
  const answer = await client.post('/ingest/v2', body as never, { key: sourceKey, timeoutMs: 120_000 });
  assert.equal(answer.status, 200, answer.text.slice(0, 500));
  assert.deepEqual(answer.json.errors, {});
}

test('large bodies: a large bulk body is held at most twice, and other requests are answered', {
  skip: !existsSync('/proc/self/status'),
}, async (context) => {
  const { pid } = system.process('web.1');
  const body = bulkBody('large', bodyBytes);
  await save(bulkBody('warm', 10_000_000));
  const quiet = residentBytes(pid);
  let peak = quiet;
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentBytes(pid));
  }, sampleMs);
  let isSaving = true;
  const startedMs = performance.now();
  const saving = save(body).finally(() => {
    isSaving = false;
  });
  let answered = 0;
  let longestMs = 0;
  while (isSaving) {
    const requestedMs = performance.now();
    assert.equal((await client.get('/health/live')).status, 200);
    longestMs = Math.max(longestMs, performance.now() - requestedMs);
    // Pauses like one of many clients, because continuous requests would take processor time from the measured front.
    await sleep(pauseMs);
    answered += 1;
  }
  await saving;
  clearInterval(sampling);
  const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
  context.diagnostic(
    `quiet ${megabytes(quiet)} MB, at most ${megabytes(peak)} MB; ${Math.round(performance.now() - startedMs)} ms; ${answered} others answered, the slowest in ${Math.round(longestMs)} ms`,
  );
  assert.ok(answered > 20, `${answered} other requests were answered`);
  assert.ok(peak - quiet < 2 * body.length + workingBytes, `${megabytes(peak - quiet)} MB more than quiet`);
});
