import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvariantError } from '../../../src/lib/assert.ts';
import { putDryRun } from '../../../src/store/dry-runs/dry-run.ts';
import { StoreFullError, StoreUnavailableError, storeError } from '../../../src/store/redis/redis-errors.ts';
import { TestRedis } from '../../support/redis.ts';

test('Redis errors: a migrating slot is not an internal error, in the wording of any Redis', () => {
  for (const message of [
    'ERR Script attempted to access a non local key in a cluster node script: 7be3',
    "ERR Unable to execute command 'exists' in script because undeclared keys were accessed during rehashing of the slot script: bc7b",
  ]) {
    assert.ok(storeError(new Error(message)) instanceof StoreUnavailableError, message);
  }
});

test('Redis errors: a Redis without room for another connection is unavailable, not an internal error', () => {
  for (const message of [
    'ERR max number of clients reached',
    'ERR max number of clients + cluster connections reached',
  ]) {
    assert.ok(storeError(new Error(message)) instanceof StoreUnavailableError, message);
  }
});

test('Redis errors: a transaction that a full Redis discards is reported as a full Redis', async () => {
  const redis = await TestRedis.start();
  const store = await redis.openEmptyStore(1);
  await store.client.config('SET', 'maxmemory', '1');
  await assert.rejects(putDryRun(store, 'token', new Map()), StoreFullError);
});

test('Redis errors: an internal error is never reported as an unavailable Redis', () => {
  for (const error of [
    new Error('ERR wrong number of arguments for command'),
    new InvariantError('the epoch only grows'),
    new TypeError('undefined is not a function'),
  ]) {
    assert.equal(storeError(error), error);
  }
});

test('Redis errors: a lost connection is reported in our own words', () => {
  const lost = Object.assign(new Error('Reached the max retries per request limit (which is 1).'), {
    name: 'MaxRetriesPerRequestError',
  });
  assert.equal(storeError(lost).message, 'Redis: the connection was lost before it responded');
});

test('Redis errors: a converted error stays unchanged', () => {
  for (const text of ['OOM command not allowed', 'FENCED by another owner', 'Connection is closed.']) {
    const ours = storeError(new Error(text));
    assert.equal(storeError(ours), ours, text);
  }
});
