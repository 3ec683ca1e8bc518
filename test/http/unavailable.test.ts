import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readEntities } from '../../src/store/entities.ts';
import { startFront, type TestFront } from './support/front.ts';
import { apiKeys, sourceId } from './support/site.ts';

let busy = false;
let front: TestFront;
before(async () => {
  front = await startFront({
    services: {
      progress: {
        waitFor: async () => true,
        catchUp: async () => null,
        waitUntilHeard: async () => true,
        noteWritten: (_, version) => version,
        backlog: () => (busy ? 1_000_000 : 0),
        behindMs: () => 0,
        backlogs: () => [],
      },
    },
  });
});
after(() => front.stop());

const key = apiKeys.source;
const entity = { type: 't', properties: {} };

test('too much waiting work is 503 with Retry-After, before anything is accepted', async () => {
  busy = true;
  for (const [method, path, body] of [
    ['POST', '/ingest/v2', [{ originId: 'b', ...entity }]],
    ['POST', '/ingest/v2/b', entity],
    ['DELETE', '/ingest/v2', { originIds: ['b'] }],
    ['DELETE', '/ingest/v2/b', undefined],
  ] as const) {
    const answer = await front.call(method, path, { key, ...(body === undefined ? {} : { body }) });
    assert.deepEqual([answer.status, answer.json.status], [503, 503]);
    assert.ok(answer.headers.get('retry-after'));
  }
  busy = false;
  assert.deepEqual(await readEntities(front.store, 'one', [{ sourceId, originId: 'b' }]), [null]);
  assert.equal((await front.call('POST', '/ingest/v2/b', { key, body: entity })).status, 200);
});

test('a Redis that is gone is 503 on every interface, without a word about it', async () => {
  await front.redis.stop();
  const calls = [
    front.call('POST', '/ingest/v2', { key, body: [{ originId: 'c', ...entity }] }),
    front.call('POST', '/ingest/v2/c', { key, body: entity }),
    front.call('DELETE', '/ingest/v2/c', { key }),
    front.call('GET', '/v2?handle=x', { key: apiKeys.client }),
    front.call('GET', '/routes/v1?first=100', { key: apiKeys.client }),
    front.call('GET', '/routes/v2', { key: apiKeys.client }),
    front.call('POST', '/v1/x', { key: apiKeys.client, body: {} }),
  ];
  for (const { status, headers, text } of await Promise.all(calls)) {
    assert.equal(status, 503);
    assert.ok(headers.get('retry-after'));
    assert.ok(!/redis|ECONN|at /i.test(text), text);
  }
  assert.equal((await front.call('GET', '/health/live')).status, 200);
});
