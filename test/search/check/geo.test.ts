import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { queryIdentity } from '../../../src/search/check/query.ts';
import { closed, condition, errorsOf, open, queryOf } from '../support/checks.ts';

const origin = { lat: 48.2, lon: 16.37 };

function geoErrors(operator: string, value: Json, field = 'geoPoint'): string[] {
  return errorsOf(condition(field, operator, value)).map((text) => text.replace('filters.and[0].', ''));
}

test('geo: the operand of a geo operator is checked member by member', () => {
  assert.deepEqual(geoErrors('withinDistance', { ...origin, meters: 0, name: 'ignored' }), []);
  assert.deepEqual(geoErrors('withinDistance', { lat: 90.1, lon: '5', meters: -1 }), [
    'value.lat: must be a number from -90 to 90, not 90.1',
    'value.lon: must be a number from -180 to 180, not "5"',
    'value.meters: must be a number from 0, not -1',
  ]);
  assert.deepEqual(geoErrors('withinDistance', { ...origin, meters: Infinity }).length, 1);
  assert.deepEqual(geoErrors('withinDistance', [16, 48]), [
    'value: withinDistance needs {"lat", "lon", "meters"}, not "[…]"',
  ]);
  const edges = { north: 90, south: -90, east: 180, west: -180 };
  assert.deepEqual(geoErrors('withinBox', edges), []);
  assert.deepEqual(geoErrors('withinBox', { ...edges, east: -10, west: 10 }, 'geoPoint[]'), []);
  assert.deepEqual(geoErrors('withinBox', { ...edges, north: 1, south: 2 }), [
    'value: north 1 is below south 2',
  ]);
  assert.deepEqual(geoErrors('withinBox', { north: 1, south: 1, west: 181 }), [
    'value.west: must be a number from -180 to 180, not 181',
    'value.east: is missing; it must be a number from -180 to 180',
  ]);
  assert.deepEqual(geoErrors('withinBox', null), [
    'value: withinBox needs {"north", "south", "east", "west"}, not null',
  ]);
});

test('geo: points support geo operators and presence; other fields have no geo operators', () => {
  for (const operator of ['equals', 'notEquals']) assert.deepEqual(geoErrors(operator, null), []);
  const use = 'operator: "geoPoint[]" is of type geoPoint[]; use withinDistance or withinBox';
  const others: readonly (readonly [string, Json])[] = [
    ['equals', 'x'],
    ['in', [null]],
    ['contains', 5],
    ['lessThan', 5],
  ];
  for (const [operator, value] of others) {
    assert.equal(geoErrors(operator, value, 'geoPoint[]')[0], use, operator);
  }
  assert.deepEqual(geoErrors('withinDistance', { ...origin, meters: 1 }, 'keyword'), [
    'operator: withinDistance needs a field of type geoPoint or geoPoint[]; "keyword" is of type keyword',
  ]);
  assert.deepEqual(errorsOf(condition('nope', 'withinDistance', { ...origin, meters: 1 }), open), []);
});

test('geo: one key sorts by the distance from a point, ascending by default', () => {
  assert.deepEqual(queryOf({ sort: [{ field: 'geoPoint', near: origin }] }).sort, [
    { field: 'geoPoint', order: 'asc', near: origin },
  ]);
  const errors: readonly (readonly [Json, string])[] = [
    [
      [{ field: 'geoPoint' }],
      'sort[0].field: "geoPoint" is of type geoPoint, which cannot be sorted; add "near" to sort by distance',
    ],
    [
      [{ field: 'keyword', near: origin }],
      'sort[0].near: needs a field of type geoPoint or geoPoint[]; "keyword" is of type keyword',
    ],
    [
      [{ field: '_score', near: origin }],
      'sort[0].near: needs a field of type geoPoint or geoPoint[]; "_score" is not a field of an item',
    ],
    [[{ field: 'nope', near: origin }], 'sort[0].field: the index has no field "nope"'],
    [[{ field: 'geoPoint', near: [16, 48] }], 'sort[0].near: must be {"lat", "lon"}, not "[…]"'],
    [
      [{ field: 'geoPoint', near: { lat: -91, lon: 0 } }],
      'sort[0].near.lat: must be a number from -90 to 90, not -91',
    ],
    [
      [
        { field: 'geoPoint', near: origin },
        { field: 'geoPoint', near: origin },
      ],
      'sort[1].near: at most one key can sort by distance',
    ],
  ];
  for (const [sort, expected] of errors) assert.deepEqual(errorsOf({ sort }), [expected]);
  assert.deepEqual(errorsOf({ sort: [{ field: 'nope', near: origin }] }, open), []);
  const identities = [origin, { lat: 48.3, lon: 16.37 }].map((near) =>
    queryIdentity(queryOf({ sort: [{ field: 'geoPoint', near }] })),
  );
  assert.notEqual(identities[0], identities[1]);
});

test('geo: points have no facets and no distinct', () => {
  for (const field of ['geoPoint', 'geoPoint[]']) {
    assert.equal(queryOf({ facets: [{ field }] }, closed).facets[0]?.isValid, false);
    assert.equal(errorsOf({ distinct: field }).length, 1);
  }
});
