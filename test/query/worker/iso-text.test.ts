import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isoBytesMax, writeIsoText } from '../../../src/query/worker/iso-text.ts';

function written(timeMs: number): string {
  const into = Buffer.alloc(isoBytesMax + 1);
  return into.toString('latin1', 1, writeIsoText(timeMs, into, 1));
}

test('a time is written as Date writes it', () => {
  const times = fc.oneof(fc.integer({ min: -8.64e15, max: 8.64e15 }), fc.integer({ min: -1e9, max: 2e12 }));
  fc.assert(
    fc.property(times, (timeMs) => {
      assert.equal(written(timeMs), new Date(timeMs).toISOString());
    }),
  );
  for (const timeMs of [-0.5, 1.9, 86_399_999, 86_400_000, -1]) {
    assert.equal(written(timeMs), new Date(timeMs).toISOString());
  }
});
