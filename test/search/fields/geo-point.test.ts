import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { distanceFrom, geoPointOf } from '../../../src/search/fields/geo-point.ts';
import { naiveDistance } from '../support/naive-geo.ts';

const place = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lon: fc.double({ min: -180, max: 180, noNaN: true }),
});

test('geo point: a point is an object or a pair, with coordinates in range and nothing else', () => {
  for (const value of [{ lat: 48.2, lon: 16.4 }, { lon: 16.4, lat: 48.2 }, [16.4, 48.2]]) {
    assert.deepEqual(geoPointOf(value), { lat: 48.2, lon: 16.4 });
  }
  assert.deepEqual(geoPointOf([-180, 90]), { lat: 90, lon: -180 });
  const misfits: Json[] = [
    null,
    '48.2,16.4',
    [16.4],
    [16.4, 48.2, 170],
    [16.4, 90.001],
    [180.001, 0],
    ['16.4', '48.2'],
    { lat: 1 },
    { lat: 1, lon: null },
    { lat: 1, lon: 2, alt: 3 },
    { lat: Infinity, lon: 2 },
    { lat: Number.NaN, lon: 2 },
    { latitude: 1, longitude: 2 },
  ];
  for (const misfit of misfits) assert.equal(geoPointOf(misfit), null, JSON.stringify(misfit));
});

test('geo point: a distance follows the haversine formula, and is symmetric', () => {
  const vienna = { lat: 48.2082, lon: 16.3738 };
  const quarter = (Math.PI / 2) * 6_371_008.8;
  assert.ok(Math.abs(distanceFrom({ lat: 0, lon: 0 })(0, 90) - quarter) < 1e-6);
  assert.ok(Math.abs(distanceFrom({ lat: -90, lon: 5 })(0, 90) - quarter) < 1e-6);
  assert.equal(distanceFrom(vienna)(vienna.lat, vienna.lon), 0);
  const antipode = distanceFrom({ lat: 0, lon: 0 })(0, 180);
  assert.equal(antipode, Math.PI * 6_371_008.8);
  fc.assert(
    fc.property(place, place, (a, b) => {
      const distance = distanceFrom(a)(b.lat, b.lon);
      // Near the antipode, rounding errors are larger.
      assert.ok(Math.abs(distance - (naiveDistance(a, [b]) ?? 0)) < 0.5);
      assert.equal(distance, distanceFrom(b)(a.lat, a.lon));
      assert.ok(distance <= antipode);
    }),
  );
});

test('geo point: a pole is one point, and so are both sides of the date line', () => {
  const distanceTo = distanceFrom({ lat: 48.2, lon: 9.2 });
  assert.equal(distanceTo(90, 0), distanceTo(90, 133));
  assert.equal(distanceTo(10, 180), distanceTo(10, -180));
  assert.equal(distanceFrom({ lat: 10, lon: -180 })(10, 180), 0);
});
