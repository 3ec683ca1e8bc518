import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { box, circle } from '../../../src/search/columns/geo-area.ts';
import { distanceFrom } from '../../../src/search/fields/geo-point.ts';
import { runs } from '../../support/runs.ts';
import { isWithin } from '../support/naive-geo.ts';

const place = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lon: fc.double({ min: -180, max: 180, noNaN: true }),
});

test('geo area: a distance includes its edge', () => {
  fc.assert(
    fc.property(place, place, fc.double({ min: 0, max: 2.1e7, noNaN: true }), (from, to, metres) => {
      const distance = distanceFrom(from)(to.lat, to.lon);
      assert.equal(circle(from, metres).has(to.lat, to.lon), distance <= metres);
      assert.ok(circle(from, distance).has(to.lat, to.lon));
    }),
  );
});

test('geo area: a box includes its edges and may cross the date line', () => {
  const pacific = box({ north: 10, south: -10, west: 170, east: -170 });
  for (const lon of [170, 175, 180, -180, -175, -170]) assert.ok(pacific.has(10, lon), String(lon));
  for (const lon of [169.9, -169.9, 0]) assert.ok(!pacific.has(0, lon), String(lon));
  assert.ok(!pacific.has(10.1, 180));
  const upToTheLine = box({ north: 10, south: 10, west: 100, east: 180 });
  assert.ok(upToTheLine.has(10, -180));
  const grid = fc.record({
    lat: fc.integer({ min: -9, max: 9 }).map((tens) => tens * 10),
    lon: fc.integer({ min: -18, max: 18 }).map((tens) => tens * 10),
  });
  fc.assert(
    fc.property(grid, grid, grid, (a, b, to) => {
      const edges = {
        north: Math.max(a.lat, b.lat),
        south: Math.min(a.lat, b.lat),
        west: a.lon,
        east: b.lon,
      };
      assert.equal(box(edges).has(to.lat, to.lon), isWithin(to, 'withinBox', edges));
    }),
    { numRuns: runs(1000) },
  );
});
