import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync } from '../../src/lib/cooperative-yield.ts';
import type { CheckedQuery } from '../../src/search/checked-query.ts';
import { comparePlaces, mergeAnswers, withCounts } from '../../src/search/merge-answers.ts';
import type { RowPlace } from '../../src/search/shard-answer.ts';

const query: CheckedQuery = {
  filter: null,
  search: null,
  facets: [{ field: 'f', name: 'f', size: 1, isValid: true }],
  sort: [{ field: 'n', order: 'desc' }],
  offset: 1,
  pageSize: 2,
  after: null,
  fields: null,
  highlight: null,
  distinct: null,
};

function place(value: number | null, originId: string, sourceId = 's'): RowPlace {
  return { values: [value], originId, sourceId };
}

test('merge answers: the rows of all shards have one order: values, absent ones last, then ids', () => {
  const places = [place(null, 'a'), place(1, 'b'), place(2, 'c'), place(2, 'a', 't'), place(2, 'a', 's')];
  const sorted = places.toSorted((a, b) => comparePlaces(query.sort, a, b));
  assert.deepEqual(sorted, [places[4], places[3], places[2], places[1], places[0]]);
});

test('merge answers: the page is taken from the rows of all shards, and totals add up', () => {
  const answers = [
    { total: 3, rows: [{ place: place(9, 'a') }, { place: place(5, 'b') }], facets: [{ groups: [] }] },
    { total: 2, rows: [{ place: place(7, 'c') }], facets: [{ groups: [] }] },
  ];
  const { total, rows, needs } = runSync(mergeAnswers(query, answers));
  assert.equal(total, 5);
  assert.deepEqual(
    rows.map((row) => row.place.originId),
    ['c', 'b'],
  );
  assert.deepEqual(needs, []);
});

test('merge answers: an uncertain facet names what must be counted, and is exact with the counts', () => {
  const answers = [
    { total: 9, rows: [], facets: [{ groups: [{ value: 'x', count: 5 }], restMax: 5 }] },
    { total: 9, rows: [], facets: [{ groups: [{ value: 'y', count: 6 }], restMax: 2 }] },
  ];
  const merged = runSync(mergeAnswers(query, answers));
  assert.deepEqual(merged.needs, [{ facetIndex: 0, values: null }]);
  const counts = new Map([
    [
      0,
      [
        { value: 'y', count: 7 },
        { value: 'x', count: 5 },
      ],
    ],
  ]);
  const whole = withCounts(query, merged, counts);
  assert.deepEqual([whole.facets[0]?.groups, whole.needs], [[{ value: 'y', count: 7 }], []]);
});
