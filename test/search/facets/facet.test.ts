import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ScalarCodes } from '../../../src/search/columns/scalar-codes.ts';
import { countAll, countGroups, countValues } from '../../../src/search/facets/facet.ts';
import { FacetTally } from '../../../src/search/facets/tally.ts';
import { atOnce } from '../../../src/search/pace.ts';
import { filled } from '../support/columns.ts';

const values = fc.array(fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e')), { maxLength: 40 });
const tally = new FacetTally();

function scopeOf(texts: readonly (string | null)[]) {
  const docs = Int32Array.from(texts.keys());
  return { codes: filled(new ScalarCodes(40, 'text'), texts), docs, docCount: docs.length, tally };
}

function naiveGroups(texts: readonly (string | null)[]): { value: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const text of texts) if (text !== null) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

test('the first groups have the highest counts; of the rest the most that one can have is known', () => {
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 6 }), (texts, limit) => {
      const all = naiveGroups(texts);
      const { groups, restMax } = atOnce(countGroups(scopeOf(texts), limit, false));
      assert.deepEqual(groups, all.slice(0, limit));
      if (restMax === undefined) assert.equal(groups.length, all.length);
      else assert.ok(all.slice(limit).every(({ count }) => count <= restMax));
      assert.equal(tally.size, 0, 'the tally is clean for the next query');
    }),
  );
});

test('all groups, or those of given values, are counted', () => {
  fc.assert(
    fc.property(values, (texts) => {
      const all = naiveGroups(texts);
      const byValue = (groups: readonly { value: unknown }[]) =>
        groups.map((each) => JSON.stringify(each)).sort();
      assert.deepEqual(byValue(atOnce(countAll(scopeOf(texts)))), byValue(all));
      assert.deepEqual(
        byValue(atOnce(countValues(scopeOf(texts), ['a', 'e', 'z']))),
        byValue(all.filter(({ value }) => value === 'a' || value === 'e')),
      );
    }),
  );
});

test('longs that are equally many are in the order of numbers, whether sent as text or not', () => {
  const longs = ['9007199254740993', 5, '-9223372036854775808', 10];
  const codes = filled(new ScalarCodes(4, 'plain'), longs);
  const scope = { codes, docs: Int32Array.of(0, 1, 2, 3), docCount: 4, tally };
  const { groups } = atOnce(countGroups(scope, 10, true));
  assert.deepEqual(
    groups.map(({ value }) => value),
    ['-9223372036854775808', 5, 10, '9007199254740993'],
  );
});
