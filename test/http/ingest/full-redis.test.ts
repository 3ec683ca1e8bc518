import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { readEntities } from '../../../src/store/entities/entities.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { apiKeys, sourceId } from '../support/site.ts';

let front: TestFront;
let redis: Redis;
before(async () => {
  front = await startFront();
  redis = new Redis(front.redis.url);
});
after(async () => {
  redis.disconnect();
  await front.stop();
});

const key = apiKeys.source;
const originIds = Array.from({ length: 20 }, (_, number) => `e${number}`);

function bulk(title: string) {
  return { key, body: originIds.map((originId) => ({ originId, type: 't', properties: { title } })) };
}

async function storedTitles(): Promise<unknown[]> {
  const stored = await readEntities(
    front.store,
    'one',
    originIds.map((originId) => ({ sourceId, originId })),
  );
  return [...new Set(stored.map((entity) => entity?.properties.title))];
}

test('full Redis: saves get 503 with Retry-After, nothing is half done, deletes are accepted, and freed room is enough to recover', async () => {
  assert.equal((await front.call('POST', '/ingest/v2', bulk('first'))).status, 200);
  await redis.config('SET', 'maxmemory-policy', 'noeviction');
  await redis.config('SET', 'maxmemory', '1mb');

  const refused = await Promise.all([
    front.call('POST', '/ingest/v2', bulk('second')),
    front.call('POST', '/ingest/v2/e1', { key, body: { type: 't', properties: { title: 'third' } } }),
  ]);
  for (const { status, headers, text } of refused) {
    assert.equal(status, 503, text);
    assert.ok(headers.get('retry-after'));
    assert.ok(!/redis|OOM|maxmemory/i.test(text), text);
  }
  assert.equal(
    (await front.call('GET', '/v2?handle=nobody', { key: apiKeys.client })).status,
    200,
    'reads continue',
  );
  assert.deepEqual(await storedTitles(), ['first'], 'refused entities are missing, all others exist');
  const single = await front.call('DELETE', '/ingest/v2/e2', { key });
  assert.equal(single.status, 200, single.text);
  const removed = await front.call('DELETE', '/ingest/v2', { key, body: { originIds } });
  assert.deepEqual([removed.status, removed.json.deletedSourceEntities.length], [200, originIds.length - 1]);
  assert.deepEqual(await storedTitles(), [undefined]);

  await redis.config('SET', 'maxmemory', '0');
  assert.equal((await front.call('POST', '/ingest/v2', bulk('fourth'))).status, 200);
  assert.deepEqual(await storedTitles(), ['fourth']);
});
