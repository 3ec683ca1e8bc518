import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  comparePoints,
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
  assert.equal(queryPointOf('integer', '5'), null);
  assert.equal(pointOf('float', 3.5e38), null);
  assert.equal(parseLong('9223372036854775808'), null);
  assert.equal(parseLong('1'.repeat(1_000_000)), null);
  assert.equal(wholeOfPoint(queryPointOf('long', '9223372036854775808') ?? pointOfWhole(0n)), 2n ** 63n);
});
