import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  comparePoints,
  intervalOf,
  nextDown,
  nextUp,
  parseLong,
  pointOf,
  pointOfWhole,
  queryPointOf,
  wholeOfPoint,
} from '../../../src/search/fields/number-point.ts';

const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test('number point: a long converts to a point without loss, and points are in the order of longs', () => {
  fc.assert(
    fc.property(long, long, (a, b) => {
      assert.equal(wholeOfPoint(pointOfWhole(a)), a);
      const expected = a < b ? -1 : Number(a > b);
      assert.equal(Math.sign(comparePoints(pointOfWhole(a), pointOfWhole(b))), expected);
    }),
  );
});

test('number point: nothing lies between a double and the next one', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const above = nextUp(value);
      assert.ok(above > value);
      const middle = value / 2 + above / 2;
      assert.ok(middle <= value || middle >= above);
      assert.ok(nextDown(above) === value || value === 0);
    }),
  );
});

test('number point: a value fits its type or has no point, but operands of a query may be out of range', () => {
  assert.equal(pointOf('integer', 2 ** 31), null);
  assert.equal(pointOf('integer', 1.5), null);
  assert.equal(queryPointOf('integer', 1e300)?.approx, 1e300);
  assert.deepEqual(queryPointOf('integer', '5'), { approx: 5, residual: 0 });
  assert.deepEqual(queryPointOf('double', '9007199254740993'), { approx: 2 ** 53, residual: 1 });
  assert.equal(queryPointOf('double', '0.5'), null);
  assert.equal(pointOf('float', 3.5e38), null);
  assert.equal(parseLong('9223372036854775808'), null);
  assert.equal(parseLong('1'.repeat(1_000_000)), null);
  assert.equal(wholeOfPoint(queryPointOf('long', '9223372036854775808') ?? pointOfWhole(0n)), 2n ** 63n);
});

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
