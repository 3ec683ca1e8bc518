import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeOfPoint } from '../../../src/search/fields/number-point.ts';
import { intervalOf } from '../../../src/search/fields/range-value.ts';

test('range value: an exclusive bound of integers is the next integer inwards', () => {
  assert.deepEqual(intervalOf('integer', { gt: 1, lt: 5 }), {
    low: { approx: 2, residual: 0 },
    high: { approx: 4, residual: 0 },
  });
  const longs = intervalOf('long', { gt: '9007199254740992', lte: '9223372036854775807' });
  assert.equal(longs && wholeOfPoint(longs.low), 9_007_199_254_740_993n);
});

test('range value: an exclusive bound of fractions is the next double', () => {
  const interval = intervalOf('double', { gt: 1 });
  assert.equal(interval?.low.approx, 1 + Number.EPSILON);
  assert.equal(interval?.high.approx, Number.POSITIVE_INFINITY);
});

test('range value: a range has a bound, at most one on each side, and nothing else', () => {
  for (const value of [{}, { gt: null }, { gt: 1, gte: 1 }, { gt: 1, to: 2 }, { gt: 'x' }, [1, 2], 5, null]) {
    assert.equal(intervalOf('integer', value), null, JSON.stringify(value));
  }
});
