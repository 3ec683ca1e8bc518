import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { CodeTally } from '../../../src/search/columns/code-tally.ts';
import { ScalarCodes } from '../../../src/search/columns/scalar-codes.ts';
import { countAll, countGroups, countValues } from '../../../src/search/facets/facet.ts';
import type { PlainValue } from '../../../src/search/packed-values.ts';
import type { TextScale } from '../../../src/search/shard-answer.ts';
import { filled } from '../support/columns.ts';

const values = fc.array(fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e')), { maxLength: 40 });
const tally = new CodeTally();

function scopeOf(texts: readonly (PlainValue | null)[], scale?: TextScale) {
  const docs = Int32Array.from(texts.keys());
  const codes = filled(new ScalarCodes(40, 'plain'), texts);
  return { codes, scale, hasMixedDates: scale === 'date', docs, docCount: docs.length, tally };
}

function naiveGroups(texts: readonly (string | null)[]): { value: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const text of texts) if (text !== null) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

test('facet: the first groups have the highest counts; for the others the maximum possible count is known', () => {
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 6 }), (texts, limit) => {
      const all = naiveGroups(texts);
      const { groups, restMax } = runSync(countGroups(scopeOf(texts), limit));
      assert.deepEqual(groups, all.slice(0, limit));
      if (restMax === undefined) assert.equal(groups.length, all.length);
      else assert.ok(all.slice(limit).every(({ count }) => count <= restMax));
      assert.equal(tally.size, 0, 'the tally is clean for the next query');
    }),
  );
});

test('facet: all groups, or those of given values, are counted', () => {
  fc.assert(
    fc.property(values, (texts) => {
      const all = naiveGroups(texts);
      const byValue = (groups: readonly { value: unknown }[]) =>
        groups.map((each) => JSON.stringify(each)).sort();
      assert.deepEqual(byValue(runSync(countAll(scopeOf(texts)))), byValue(all));
      assert.deepEqual(
        byValue(runSync(countValues(scopeOf(texts), ['a', 'e', 'z']))),
        byValue(all.filter(({ value }) => value === 'a' || value === 'e')),
      );
    }),
  );
});

test('facet: longs with equal counts are in numeric order, whether sent as strings or not', () => {
  const longs = ['9007199254740993', 5, '-9223372036854775808', 10];
  const { groups } = runSync(countGroups(scopeOf(longs, 'long'), 10));
  assert.deepEqual(
    groups.map(({ value }) => value),
    ['-9223372036854775808', 5, 10, '9007199254740993'],
  );
});

test('facet: a date is one group in any notation, with the first notation as its value', () => {
  const dates = [
    '2024-01-01T00:00:00Z',
    '2024-01-02',
    '2024-01-01',
    0,
    '1970-01-01',
    '2024-01-01T01:00:00+01:00',
  ];
  const groups = [
    { value: '2024-01-01', count: 3 },
    { value: 0, count: 2 },
    { value: '2024-01-02', count: 1 },
  ];
  assert.deepEqual(runSync(countGroups(scopeOf(dates, 'date'), 10)).groups, groups);
  assert.deepEqual(
    runSync(countValues(scopeOf(dates, 'date'), ['2024-01-01T02:00:00+02:00', '1970-01-01'])),
    groups.slice(0, 2),
  );
  assert.equal(tally.size, 0, 'the tally is clean for the next query');
});
