import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Follower } from '../../src/feed/live-feed.ts';
import { LiveFeeds } from '../../src/feed/live-feeds.ts';
import { environmentId, testConfiguration } from '../http/support/site.ts';
import { TestRedis } from '../support/redis.ts';

const redis = await TestRedis.start({ durable: false });

test('live feeds: followers of a feed that left the cache before they joined are reached too', async (context) => {
  const store = await redis.openEmptyStore(1);
  const options = { store, configuration: { current: testConfiguration() }, retentionMs: 1_000 };
  // The end of the test closes Redis while feeds still read.
  const feeds = new LiveFeeds(options, () => {});
  context.after(() => feeds.close());
  const scope = { tenant: 'one', environmentId };
  const evicted = feeds.of(scope);
  for (let at = 0; at < 1_000; at += 1) feeds.of({ tenant: 'one', environmentId: `other-${at}` });
  const current = feeds.of(scope);
  assert.notEqual(current, evicted);
  const position = await current.start('now');
  const ended: string[] = [];
  const follower = (name: string): Follower => ({
    receive: () => {},
    isFarBehind: () => {},
    failed: () => ended.push(name),
  });
  feeds.join(evicted, follower('first'), position);
  feeds.join(current, follower('second'), position);
  assert.equal(feeds.followers, 2);
  feeds.endAll();
  assert.deepEqual(ended, ['first', 'second']);
});
