import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Postings } from '../../../src/search/text/postings.ts';

test('a term lists its docs, and is new to the first of them', () => {
  const postings = new Postings();
  assert.deepEqual(postings.add(1, ['a', 'b']), ['a', 'b']);
  assert.deepEqual(postings.add(2, ['b', 'constructor']), ['constructor']);
  assert.deepEqual(postings.list('b'), [1, 2]);
  assert.deepEqual(postings.list('toString'), []);
});

test('a term that keeps no doc is gone, and new again to the next', () => {
  const postings = new Postings();
  for (const doc of [1, 2, 3]) postings.add(doc, ['a']);
  assert.deepEqual(
    postings.keep('a', (doc) => doc !== 2),
    { before: 3, after: 2 },
  );
  assert.deepEqual(postings.list('a'), [1, 3]);
  assert.deepEqual(
    postings.keep('a', () => false),
    { before: 2, after: 0 },
  );
  assert.deepEqual(postings.add(4, ['a']), ['a']);
});
