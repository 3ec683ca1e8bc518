import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { timeText } from '../../../src/query/result/time-text.ts';

test('a time is written as Date writes it', () => {
  const aroundDays = fc.tuple(fc.integer({ min: -3, max: 20_000 }), fc.integer({ min: -2, max: 2 }));
  const time = fc.oneof(
    fc.integer({ min: -1e12, max: 4e12 }),
    fc.integer({ min: -8.64e15, max: 8.64e15 }),
    aroundDays.map(([day, ms]) => day * 86_400_000 + ms),
  );
  fc.assert(fc.property(time, (ms) => assert.equal(timeText(ms), new Date(ms).toISOString())));
});
