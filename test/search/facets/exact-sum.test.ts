import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ExactSum, nearestDouble, wholeOfUnits } from '../../../src/search/facets/stats.ts';
import { unitsOf } from '../support/naive-facets.ts';

const double = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    5e-324,
    -5e-324,
    2 ** -1022,
    Number.MAX_VALUE,
    -Number.MAX_VALUE,
    0.1,
    1e16,
    1,
    -0,
    2 ** 53,
  ),
);

function sumOf(values: readonly number[]): bigint {
  const sum = new ExactSum();
  for (const value of values) sum.add(value);
  return sum.units;
}

test('exact sum: does not depend on order or grouping', () => {
  fc.assert(
    fc.property(fc.array(double), fc.nat(), (values, cut) => {
      const expected = values.reduce((units, value) => units + unitsOf(value), 0n);
      assert.equal(sumOf(values), expected);
      assert.equal(sumOf(values.toReversed()), expected);
      const at = cut % (values.length + 1);
      assert.equal(sumOf(values.slice(0, at)) + sumOf(values.slice(at)), expected);
    }),
  );
});

test('exact sum: stays exact over more additions than a chunk can hold', () => {
  const sum = new ExactSum();
  for (let at = 0; at < 3_000_000; at += 1) sum.add(Number.MAX_SAFE_INTEGER);
  assert.equal(wholeOfUnits(sum.units), 3_000_000n * BigInt(Number.MAX_SAFE_INTEGER));
});

test('nearest double: rounds a sum or quotient once', () => {
  fc.assert(
    fc.property(double, (value) => {
      // A sum has only one zero.
      assert.equal(nearestDouble(sumOf([value]), 1n) + 0, value + 0);
      assert.equal(nearestDouble(sumOf([value, value, value]), 3n) + 0, value + 0);
    }),
  );
  assert.equal(nearestDouble(sumOf([0.1, 0.2, 0.3]), 1n), 0.6);
  assert.equal(nearestDouble(sumOf([1e16, 1, -1e16]), 1n), 1);
  assert.equal(nearestDouble(sumOf([Number.MAX_VALUE, Number.MAX_VALUE]), 1n), Infinity);
  assert.equal(
    nearestDouble(sumOf([Number.MAX_VALUE, Number.MAX_VALUE, -Number.MAX_VALUE]), 1n),
    Number.MAX_VALUE,
  );
  assert.equal(nearestDouble(sumOf([5e-324]), 2n), 0);
  assert.equal(nearestDouble(sumOf([5e-324, 5e-324, 5e-324]), 2n), 1e-323);
});

test('nearest double: equals division for integers', () => {
  const whole = fc.integer({ min: -(2 ** 31), max: 2 ** 31 });
  fc.assert(
    fc.property(whole, fc.integer({ min: 1, max: 2 ** 31 }), (dividend, divisor) => {
      assert.equal(nearestDouble(sumOf([dividend]), BigInt(divisor)) + 0, dividend / divisor + 0);
    }),
  );
});
