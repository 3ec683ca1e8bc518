import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { TopHeap } from '../../../src/search/sort/top-heap.ts';

test('top heap: the first items in order equal those of a full sort', () => {
  const keys = fc.array(fc.constantFrom(-1, 0, 1, 2, 3, Number.POSITIVE_INFINITY), { maxLength: 40 });
  fc.assert(
    fc.property(keys, fc.nat(45), (offered, capacity) => {
      const heap = new TopHeap(capacity, (a, b) => a - b);
      for (const [item, key] of offered.entries()) if (key <= heap.lastKey) heap.offer(item, key);
      const sorted = offered
        .map((key, item) => ({ key, item }))
        .sort((a, b) => (a.key === b.key ? a.item - b.item : a.key - b.key))
        .map(({ item }) => item);
      assert.deepEqual([...runSync(heap.drain())], sorted.slice(0, capacity));
    }),
  );
});
