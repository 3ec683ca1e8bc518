import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { NumberColumn } from '../../../src/search/columns/number-column.ts';
import { clearAt, conditionOf, filled, inOrder, matching, setAt } from '../support/columns.ts';

const number = fc.option(fc.constantFrom(-2.5, -1, 0, 0.5, 1, 3, 1e10));
const long = fc.option(fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 6n }).map(String));
const compare: Record<string, (a: bigint | number, b: bigint | number) => boolean> = {
  equals: (a, b) => a === b,
  greaterThan: (a, b) => a > b,
  greaterThanOrEquals: (a, b) => a >= b,
  lessThan: (a, b) => a < b,
  lessThanOrEquals: (a, b) => a <= b,
};
const operator = fc.constantFrom(
  'equals',
  'greaterThan',
  'greaterThanOrEquals',
  'lessThan',
  'lessThanOrEquals',
);

test('number column: numbers are compared numerically', () => {
  fc.assert(
    fc.property(fc.array(number), operator, fc.constantFrom(-1, 0, 0.5, 2, 3), (values, name, asked) => {
      const column = filled(new NumberColumn(100, 'double'), values);
      const expected = values.flatMap((value, doc) =>
        value !== null && compare[name]?.(value, asked) ? [doc] : [],
      );
      assert.deepEqual(matching(column, conditionOf(name as 'equals', asked), values.length), expected);
    }),
  );
});

test('number column: longs keep every digit, in conditions and in their order', () => {
  fc.assert(
    fc.property(fc.array(long), operator, long, fc.boolean(), (values, name, asked, isDescending) => {
      const column = filled(new NumberColumn(100, 'long'), values);
      const wanted = BigInt(asked ?? '0');
      const expected = values.flatMap((value, doc) =>
        value !== null && compare[name]?.(BigInt(value), wanted) ? [doc] : [],
      );
      assert.deepEqual(
        matching(column, conditionOf(name as 'equals', String(wanted)), values.length),
        expected,
      );
      const sorted = inOrder(column, isDescending, values.length).map((doc) => values[doc] ?? null);
      const numbers = sorted.filter((value) => value !== null).map(BigInt);
      const ascending = [...numbers].sort((a, b) => (a < b ? -1 : Number(a > b)));
      assert.deepEqual(numbers, isDescending ? ascending.reverse() : ascending);
      assert.ok(
        sorted.slice(numbers.length).every((value) => value === null),
        'absent ones are last',
      );
    }),
  );
});

test('number column: a number in a list of a hundred thousand is found', () => {
  const column = filled(new NumberColumn(4, 'integer'), [7, 100_001, 99_999, null]);
  const listed: Json[] = Array.from({ length: 100_000 }, (_, at) => 100_000 - at);
  assert.deepEqual(matching(column, conditionOf('in', listed), 4), [0, 2]);
});

test('number column: dates as strings and as milliseconds share one column', () => {
  const column = filled(new NumberColumn(3, 'date'), ['2024-01-01', 1_704_067_200_000, 'no date']);
  assert.deepEqual(matching(column, conditionOf('equals', '2024-01-01T01:00:00+01:00'), 3), [0, 1]);
});

test('number column: a cleared doc has no value, even after the column grew', () => {
  const column = filled(new NumberColumn(2, 'long'), ['9007199254740993', 1]);
  runSync(column.grow(4));
  clearAt(column, 0);
  setAt(column, 3, 5);
  assert.deepEqual(matching(column, conditionOf('greaterThan', 0), 4), [1, 3]);
  assert.ok(!column.present.has(0));
});
