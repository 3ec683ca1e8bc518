import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnseenWrites } from '../../../src/store/visibility/unseen-writes.ts';

test('what Redis has forgotten is waited for by nobody', () => {
  const writes = new UnseenWrites(() => false);
  writes.add(
    'acme',
    new Map([
      [0, 3],
      [1, 3],
    ]),
  );
  writes.forgetBeyond(0, 2);
  writes.forgetBeyond(1, 3);
  assert.deepEqual(
    [...writes.add('acme', new Map([[2, 1]]))],
    [
      [1, 3],
      [2, 1],
    ],
  );
});

test('of several writes in one partition the last stands for all, and a version does not change any more', () => {
  const writes = new UnseenWrites(() => false);
  const first = writes.add('acme', new Map([[0, 5]]));
  assert.deepEqual([...writes.add('acme', new Map([[0, 4]]))], [[0, 5]], 'answers overtake each other');
  writes.add('acme', new Map([[0, 6]]));
  assert.deepEqual([...first], [[0, 5]]);
});
