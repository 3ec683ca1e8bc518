import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SortKey } from '../../../src/search/checked-query.ts';
import {
  compareSent,
  nameOfValue,
  sentValues,
  unitsSentMax,
} from '../../../src/search/distinct/sent-place.ts';
import { comparePlaces } from '../../../src/search/merge-answers.ts';
import type { RowPlace } from '../../../src/search/shard-answer.ts';
import { runs } from '../../support/runs.ts';

/** Strings around the length at which they are truncated, where they differ, also within surrogate pairs. */
const text = fc
  .tuple(
    fc.constantFrom('', 'a', 'a'.repeat(unitsSentMax - 2)),
    fc.array(fc.constantFrom('a', 'b', '\uffff', '\ud83d', '\ude00', '\u{1f600}'), { maxLength: 5 }),
  )
  .map(([start, end]) => start + end.join(''));
const value = fc.oneof(text, fc.constantFrom(null, 0, 1));
const place: fc.Arbitrary<RowPlace> = fc.record({
  values: fc.array(value, { minLength: 6, maxLength: 6 }),
  originId: fc.constantFrom('a', 'b'),
  sourceId: fc.constantFrom('s', 't'),
});
const sort: fc.Arbitrary<SortKey[]> = fc.array(
  fc.record(
    {
      field: fc.constant('f'),
      order: fc.constantFrom('asc', 'desc'),
      collation: fc.constantFrom('da', 'fr-CA'),
    },
    { requiredKeys: ['field', 'order'] },
  ),
  { minLength: 1, maxLength: 6 },
);

const sent = (whole: RowPlace) => ({ ...whole, values: sentValues(whole.values) });

test('sent place: the truncated forms of two values order them like the whole values, or are undecided', () => {
  fc.assert(
    fc.property(sort, place, place, (keys, one, other) => {
      const a = { ...one, values: one.values.slice(0, keys.length) };
      const b = { ...other, values: other.values.slice(0, keys.length) };
      const compared = compareSent(keys, sent(a), sent(b));
      if (compared !== null) assert.equal(Math.sign(compared), Math.sign(comparePlaces(keys, a, b)));
      const isOpen = keys.length > 4 || [a, b].some(({ values }) => `${values}`.length > unitsSentMax);
      assert.ok(compared !== null || isOpen, 'short values decide it');
    }),
    { numRuns: runs(2000) },
  );
});

test('sent place: values have distinct names, with short ones for long strings', () => {
  const long = 'x'.repeat(1000);
  const values = [0, 1, true, '0', 'true', long, `${long}y`, `${long}\ud800`, `${long}\udfff`];
  const names = values.map(nameOfValue);
  assert.equal(new Set(names).size, values.length);
  assert.ok(names.every((name) => String(name).length < 200));
  for (const name of names.filter((name) => String(name).length > unitsSentMax))
    assert.notEqual(nameOfValue(name), name, 'no two values share a name');
});
