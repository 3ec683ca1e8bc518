/** Views, read with the lists of names that they omit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { type NamelessBody, withoutNames } from '../../../src/store/derived/nameless-body.ts';
import { decodeBody, encodeBody } from '../../../src/store/derived/stored-body.ts';
import { fieldOfView, readView } from '../../../src/store/derived/views.ts';
import { keys } from '../../../src/store/keys.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const [tenant, environmentId, sourceId, alias] = ['acme', 'env-1', 'src-1', 'page'];
const scope = { tenant, environmentId };
/** More than the number of views that still contain their names. */
const viewsMet = 64;

test('views: a view whose list of names was lost counts as lost, and can be read once the list is back', async () => {
  const store = await redis.openStore(1);
  const tag = store.partitions.tag(0);
  const texts = ['{"of a test that nobody else has":1,"card":', '}'];
  const target = { environmentId, sourceId, originId: 'o', alias: 'card' };
  const references = [{ target, viewId: null, path: '.card' }];
  const body = finish(encodeBody({ texts, references }, sourceId));
  let nameless: NamelessBody | null = null;
  for (let met = 0; met < viewsMet; met += 1) nameless = withoutNames(body);
  assert.ok(nameless !== null);
  const { key } = fieldOfView(store, scope, { sourceId, originId: '', alias });
  await store.client.hset(key, `${alias}:lost`, nameless.stored, `${alias}:whole`, body);

  const read = (originId: string) => readView(store, scope, { sourceId, originId, alias });
  assert.equal(await read('lost'), null);
  assert.equal(await read('never'), null);
  assert.deepEqual(await read('whole'), decodeBody(body, sourceId));

  const { digest, text } = nameless.list;
  await store.client.hset(keys.names(tag, tenant, sourceId), digest, text);
  for (const look of ['read from Redis', 'known']) {
    assert.deepEqual(await read('lost'), decodeBody(body, sourceId), look);
  }
});
