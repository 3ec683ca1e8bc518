import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { test } from 'node:test';
import { LogWatch } from '../../src/webhooks/log-watch.ts';
import { TestRedis } from '../support/redis.ts';

const redis = await TestRedis.start();

test('log watch: a wait for a commit ends on a stop, also if that came first', async () => {
  const watch = new LogWatch(await redis.openEmptyStore(1));
  const startedMs = performance.now();
  const reason = new Error('stop');
  await assert.rejects(watch.wait(20_000, AbortSignal.abort(reason)), reason);
  const stop = new AbortController();
  const waiting = watch.wait(20_000, stop.signal);
  stop.abort(reason);
  await assert.rejects(waiting, reason);
  assert.ok(performance.now() - startedMs < 10_000);
});
