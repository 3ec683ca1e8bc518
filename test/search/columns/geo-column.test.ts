import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { box, circle, GeoColumn, geoAreaOf } from '../../../src/search/columns/geo-column.ts';
import { distanceFrom, type GeoPoint } from '../../../src/search/fields/geo-point.ts';
import { runs } from '../../support/runs.ts';
import { geoPlace } from '../support/arbitraries.ts';
import { clearAt, conditionOf, filled as filledColumn, matching, setAt } from '../support/columns.ts';
import { isWithin, naiveDistance, naivePlaces } from '../support/naive-geo.ts';

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

function filled(values: readonly Json[], isList: boolean): GeoColumn {
  const column = new GeoColumn(1, isList);
  runSync(column.grow(values.length + 1));
  for (const [doc, value] of values.entries()) {
    // Docs are added and removed first.
    for (const one of [values.at(-1) ?? null, value]) {
      column.clear(doc);
      const left = one === null ? null : column.set(doc, one);
      if (left !== null) runSync(left);
    }
    if (value === null) column.clear(doc);
  }
  return column;
}

const pair = geoPlace.map(({ lat, lon }): Json => [lon, lat]);

test('geo column: the distance of a doc is that of its nearest point, after any additions and removals', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.array(pair, { maxLength: 3 })), { maxLength: 8 }),
      geoPlace,
      (lists, from) => {
        const order = filled(lists, true).near(from, false);
        for (const [doc, list] of lists.entries()) {
          const expected = list === null ? null : naiveDistance(from, naivePlaces('geoPoint[]', list));
          const distance = order.value(doc);
          assert.equal(distance === null, expected === null);
          assert.ok(Math.abs(Number(distance) - (expected ?? 0)) < 0.5);
          assert.equal(order.key(doc), order.keyOf(distance));
        }
      },
    ),
  );
});

test('geo column: docs without a point are last in both orders', () => {
  const column = filled([[16, 48], null, { lat: 0, lon: 0 }], false);
  for (const isDescending of [false, true]) {
    const keys = new Float64Array(3);
    assert.equal(column.near({ lat: 48, lon: 16 }, isDescending).keys(Int32Array.of(0, 1, 2), 0, 3, keys), 3);
    assert.equal(keys[1], Infinity);
    assert.equal((keys[0] ?? 0) < (keys[2] ?? 0), !isDescending);
  }
});

test('geo column: a point takes 16 bytes', () => {
  const places = Array.from({ length: 1000 }, (_, at): Json => [at / 10, at / 20]);
  assert.equal(filled(places, false).bytes, 1001 * 16);
  assert.ok(
    filled(
      places.map((place): Json => [place]),
      true,
    ).bytes <
      1001 * 64,
  );
});

test('geo column: conditions find the same by scan and by latitude, while points are added, removed and moved', () => {
  const edge = fc.integer({ min: -18, max: 18 });
  const change = fc.record({ doc: fc.nat(299), place: fc.option(geoPlace) });
  fc.assert(
    fc.property(
      fc.array(geoPlace, { minLength: 300, maxLength: 300 }),
      fc.array(fc.array(change, { maxLength: 200 }), { minLength: 1, maxLength: 4 }),
      geoPlace,
      edge,
      (places, rounds, from, tens) => {
        const now: (GeoPoint | null)[] = [...places];
        const column = filledColumn(
          new GeoColumn(300, false),
          places.map(({ lat, lon }) => ({ lat, lon })),
        );
        const conditions = [
          conditionOf('withinDistance', { ...from, meters: 400_000 }),
          conditionOf('withinBox', { north: 8, south: 2, west: tens * 10, east: 170 }),
        ];
        for (const round of [[], ...rounds]) {
          for (const { doc, place } of round) {
            clearAt(column, doc);
            if (place !== null) setAt(column, doc, { ...place });
            now[doc] = place;
          }
          for (const condition of conditions) {
            const area = geoAreaOf(condition);
            const expected = [...now.keys()].filter((doc) => {
              const place = now[doc] ?? null;
              return place !== null && area?.has(place.lat, place.lon) === true;
            });
            for (let asked = 0; asked < 40; asked += 1) {
              assert.deepEqual(matching(column, condition, 300), expected);
            }
          }
        }
      },
    ),
    { numRuns: runs(20) },
  );
});
