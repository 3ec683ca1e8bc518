import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defaultFrontLimits } from '../../../src/contract/front-limits.ts';
import { readEntities } from '../../../src/store/entities/entities.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { apiKeys, sourceId } from '../support/site.ts';

const ingestBacklogEntries = 5;
let front: TestFront;
before(async () => {
  front = await startFront({ services: { limits: { ...defaultFrontLimits, ingestBacklogEntries } } });
});
after(() => front.stop());

const key = apiKeys.source;
const entity = { type: 't', properties: {} };

test('unavailable: a tenant that floods a partition gets 503 with Retry-After before anything is accepted, and no other tenant does', async () => {
  const flood = async (number: number) => {
    const body = { type: 't', properties: { number } };
    return (await front.call('POST', '/ingest/v2/b', { key: apiKeys.otherSource, body })).status;
  };
  // They are never processed, and all entries of an entity are in one partition.
  for (let number = 0; number <= ingestBacklogEntries; number += 1) assert.equal(await flood(number), 200);
  for (const [method, path, body] of [
    ['POST', '/ingest/v2', [{ originId: 'c', ...entity }]],
    ['POST', '/ingest/v2/c', entity],
    ['DELETE', '/ingest/v2', { originIds: ['b'] }],
    ['DELETE', '/ingest/v2/b', undefined],
  ] as const) {
    const options = { key: apiKeys.otherSource, ...(body === undefined ? {} : { body }) };
    const answer = await front.call(method, path, options);
    assert.deepEqual([answer.status, answer.json.status], [503, 503]);
    assert.ok(answer.headers.get('retry-after'));
    assert.equal(answer.json.requestId, answer.headers.get('x-request-id'));
  }
  const [flooded, refused] = await readEntities(front.store, 'two', [
    { sourceId, originId: 'b' },
    { sourceId, originId: 'c' },
  ]);
  assert.deepEqual(flooded?.properties, { number: ingestBacklogEntries }, 'nothing was deleted');
  assert.equal(refused, null);
  assert.equal((await front.call('POST', '/ingest/v2/b', { key, body: entity })).status, 200);
  assert.equal((await front.call('DELETE', '/ingest/v2/b', { key })).status, 200);
});

test('unavailable: without Redis every interface returns 503, without internal details', async () => {
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
  for (const { status, headers, json, text } of await Promise.all(calls)) {
    assert.equal(status, 503);
    assert.ok(headers.get('retry-after'));
    assert.ok(json.requestId);
    assert.equal(json.requestId, headers.get('x-request-id'));
    assert.ok(!/redis|ECONN|at /i.test(text), text);
  }
  assert.equal((await front.call('GET', '/health/live')).status, 200);
});
