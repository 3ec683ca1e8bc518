import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scratches } from '../../src/search/scratch.ts';

test('scratch: buffers are reused after they were returned, and by one query at a time', () => {
  const scratches = new Scratches();
  const first = scratches.take(10);
  const second = scratches.take(10);
  assert.notEqual(first, second);
  scratches.release(first);
  assert.equal(scratches.take(5), first);
  assert.equal(first.hits.length, 10);
  scratches.release(first);
  assert.ok(scratches.take(1000).search().totals.length >= 1000);
});
