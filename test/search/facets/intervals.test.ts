import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FacetInterval } from '../../../src/contract/query-names.ts';
import { IntervalTally, intervalGroups } from '../../../src/search/facets/number-facet.ts';

/** The groups of docs, each with its dates in ascending order. */
function groups(interval: FacetInterval, docs: readonly (readonly (string | number)[])[]): string[] {
  const tally = new IntervalTally(interval);
  for (const dates of docs) {
    for (const date of dates) tally.add(new Date(date).getTime());
    tally.endDoc();
  }
  return intervalGroups([tally.latest]).map(({ value, count }) => `${value} ${count}`);
}

test('intervals: intervals begin at midnight UTC, weeks on Monday, in chronological order', () => {
  const docs = [['2024-03-03T23:59:59.999Z'], ['2024-03-04'], ['1969-12-31T23:59:59.999Z']];
  const midnight = 'T00:00:00.000Z 1';
  const expected: Readonly<Record<FacetInterval, readonly string[]>> = {
    day: ['1969-12-31', '2024-03-03', '2024-03-04'],
    week: ['1969-12-29', '2024-02-26', '2024-03-04'],
    month: ['1969-12-01', '2024-03-01'],
    year: ['1969-01-01', '2024-01-01'],
  };
  assert.deepEqual(
    groups('day', docs),
    expected.day.map((day) => day + midnight),
  );
  assert.deepEqual(
    groups('week', docs),
    expected.week.map((day) => day + midnight),
  );
  assert.deepEqual(groups('month', docs), [`1969-12-01${midnight}`, '2024-03-01T00:00:00.000Z 2']);
  assert.deepEqual(groups('year', docs), [`1969-01-01${midnight}`, '2024-01-01T00:00:00.000Z 2']);
});

test('intervals: an item counts once in each interval that contains one of its dates', () => {
  assert.deepEqual(groups('month', [['2024-01-01', '2024-01-31', '2024-02-01']]), [
    '2024-01-01T00:00:00.000Z 1',
    '2024-02-01T00:00:00.000Z 1',
  ]);
});

test('intervals: the earliest and latest possible times have intervals too', () => {
  for (const interval of ['day', 'week', 'month', 'year'] as const) {
    const [first = '', last = ''] = groups(interval, [[-8.64e15], [8.64e15]]);
    assert.match(first, /^-271821-04-20T/, interval);
    assert.match(last, /^\+275760-(09-1[13]|09-08|09-01|01-01)T/, interval);
  }
  assert.deepEqual(groups('year', [['0001-05-05'], ['0099-01-01']]), [
    '0001-01-01T00:00:00.000Z 1',
    '0099-01-01T00:00:00.000Z 1',
  ]);
});

test('intervals: the latest thousand intervals of all shards are returned, in any distribution', () => {
  const shards = [new IntervalTally('day'), new IntervalTally('day'), new IntervalTally('day')];
  for (let day = 0; day < 2500; day += 1) {
    const tally = shards[day % 2 === 0 ? 0 : day % 3];
    tally?.add(day * 86_400_000);
    tally?.endDoc();
  }
  const all = intervalGroups(shards.map((tally) => tally.latest));
  assert.equal(all.length, 1000);
  assert.deepEqual(
    all.map(({ value }) => value),
    Array.from({ length: 1000 }, (_, at) => new Date((1500 + at) * 86_400_000).toISOString()),
  );
});
