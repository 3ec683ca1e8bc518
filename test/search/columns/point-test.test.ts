import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { PointSet, pointTest } from '../../../src/search/columns/point-test.ts';
import { comparePoints } from '../../../src/search/fields/number-point.ts';
import { conditionOf } from '../support/columns.ts';

const testOf = (...args: Parameters<typeof conditionOf>) =>
  runSync(pointTest('integer', conditionOf(...args)));

test('point test: an exclusive bound begins at the next representable point', () => {
  assert.deepEqual(testOf('greaterThan', 5), {
    kind: 'between',
    low: { approx: 5, residual: 1 },
    high: { approx: Number.POSITIVE_INFINITY, residual: 0 },
  });
  assert.deepEqual(testOf('lessThan', 5), {
    kind: 'between',
    low: { approx: Number.NEGATIVE_INFINITY, residual: 0 },
    high: { approx: 5, residual: -1 },
  });
});

test('point test: one listed value is the same as equals, several are a set, and a value that is not a number is nothing', () => {
  assert.deepEqual(testOf('in', [5, 'x']), testOf('equals', 5));
  assert.equal(testOf('in', [5, 6]).kind, 'among');
  assert.equal(testOf('in', ['x', true]).kind, 'none');
  assert.equal(testOf('equals', 'x').kind, 'none');
});

const point = fc.record({
  approx: fc.integer({ min: -3, max: 3 }),
  residual: fc.integer({ min: -1, max: 1 }),
});

test('point test: membership in a set or an interval equals a linear comparison', () => {
  fc.assert(
    fc.property(fc.array(point), point, point, (points, low, high) => {
      const set = runSync(PointSet.of(points));
      assert.equal(
        set.has(low.approx, low.residual),
        points.some((each) => comparePoints(each, low) === 0),
      );
      assert.equal(
        set.hasBetween({ low, high }),
        points.some((each) => comparePoints(each, low) >= 0 && comparePoints(each, high) <= 0),
      );
    }),
  );
});
