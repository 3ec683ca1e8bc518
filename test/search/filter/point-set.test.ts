import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { atOnce } from '../../../src/lib/cooperative-yield.ts';
import { comparePoints } from '../../../src/search/columns/number-point.ts';
import { PointSet } from '../../../src/search/filter/point-set.ts';

const point = fc.record({
  approx: fc.integer({ min: -3, max: 3 }),
  residual: fc.integer({ min: -1, max: 1 }),
});

test('a point is in the set, or between two, as a look at all of them says', () => {
  fc.assert(
    fc.property(fc.array(point), point, point, (points, low, high) => {
      const set = atOnce(PointSet.of(points));
      assert.equal(
        set.has(low.approx, low.residual),
        points.some((each) => comparePoints(each, low) === 0),
      );
      assert.equal(
        set.hasBetween(low, high),
        points.some((each) => comparePoints(each, low) >= 0 && comparePoints(each, high) <= 0),
      );
    }),
  );
});
