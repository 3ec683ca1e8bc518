import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CachedPromise } from '../../src/lib/shared-promises.ts';

const longMs = 60_000;

test('cached promise: one call serves all callers within its time', async () => {
  let looks = 0;
  const kept = new CachedPromise(async () => (looks += 1), longMs);
  assert.deepEqual(await Promise.all([kept.get(), kept.get()]), [1, 1]);
  assert.equal(await kept.get(), 1);
  const brief = new CachedPromise(async () => (looks += 1), 0);
  assert.deepEqual([await brief.get(), await brief.get()], [2, 3]);
});

test('cached promise: after a failed call the next caller starts a new one', async () => {
  let looks = 0;
  const kept = new CachedPromise(async () => {
    looks += 1;
    if (looks === 1) throw new Error('no answer');
    return looks;
  }, longMs);
  const together = await Promise.allSettled([kept.get(), kept.get()]);
  assert.deepEqual(
    together.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await kept.get(), 2);
  assert.equal(await kept.get(), 2);
});
