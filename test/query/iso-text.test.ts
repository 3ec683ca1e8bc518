import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isoText } from '../../src/query/iso-text.ts';

test('a time is written as Date writes it', () => {
  const times = fc.oneof(fc.integer({ min: -8.64e15, max: 8.64e15 }), fc.integer({ min: -1e9, max: 2e12 }));
  fc.assert(
    fc.property(times, (timeMs) => {
      assert.equal(isoText(timeMs), new Date(timeMs).toISOString());
    }),
  );
  for (const timeMs of [-0.5, 1.9, 86_399_999, 86_400_000, -1]) {
    assert.equal(isoText(timeMs), new Date(timeMs).toISOString());
  }
});
