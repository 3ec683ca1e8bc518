/** A text that was chosen so that another one takes its place without being noticed, if outputs were compared by a weak digest. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { contentDigest, digestOf, isDigestOf } from '../../../src/store/codec/digest.ts';
import { encodeBody } from '../../../src/store/derived/stored-body.ts';
import { Platform, page, siteFiles } from '../../jobs/support/platform.ts';
import { TestRedis } from '../../support/redis.ts';

const redisUrl = (await TestRedis.start()).url;
const removed = '[removed by the moderator]';
/** Found in a fraction of a second: the view of this text has the XXH64 of the view of `removed`. */
const chosen = 'Harmful words 000pl ...rp`gpFkG';

function storedView(text: string): Buffer {
  const view = { texts: [JSON.stringify({ title: 'News', text })], references: [] };
  return finish(encodeBody(view, 'src-1'));
}

test('a text that is replaced leaves its view, whatever digest it was chosen to have', async (context) => {
  const [before, after] = [storedView(chosen), storedView(removed)];
  assert.deepEqual(digestOf(before), digestOf(after));
  assert.notDeepEqual(contentDigest(before), contentDigest(after));
  const properties = { title: '{p.title}', text: '{p.text}' };
  const platform = await Platform.start(context, redisUrl);
  await platform.publish(siteFiles({ schemas: { page: { triggers: { cms: ['page'] }, properties } } }));
  await platform.startWorker();
  for (const text of [chosen, removed]) {
    await platform.ingest([page('a', { title: 'News', text })]);
    await platform.settle();
    assert.deepEqual(await platform.view('page', 'a'), { title: 'News', text });
  }
});

test('a record with the former digest of its bytes is recognized', () => {
  const bytes = storedView('text');
  assert.ok(isDigestOf(contentDigest(bytes), bytes));
  assert.ok(isDigestOf(digestOf(bytes), bytes));
  assert.ok(!isDigestOf(contentDigest(bytes), storedView('other')));
});
