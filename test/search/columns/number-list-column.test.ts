import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { workBudget } from '../../../src/lib/cooperative-yield.ts';
import { NumberListColumn } from '../../../src/search/columns/number-list-column.ts';
import { conditionOf, filled, inOrder, matching } from '../support/columns.ts';

const lists = fc.array(fc.option(fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 5 })));

test('number list column: a condition holds if it holds for any item', () => {
  fc.assert(
    fc.property(lists, fc.integer({ min: -4, max: 4 }), (values, asked) => {
      const column = filled(new NumberListColumn(100, 'integer'), values);
      const expected = values.flatMap((items, doc) => (items?.some((item) => item > asked) ? [doc] : []));
      assert.deepEqual(matching(column, conditionOf('greaterThan', asked), values.length), expected);
    }),
  );
});

test('number list column: a list is sorted by its smallest item, or by its largest', () => {
  fc.assert(
    fc.property(lists, fc.boolean(), (values, isDescending) => {
      const column = filled(new NumberListColumn(100, 'integer'), values);
      const keyOf = (doc: number): number => {
        const items = values[doc] ?? [];
        if (items.length === 0) return Number.POSITIVE_INFINITY;
        return isDescending ? -Math.max(...items) : Math.min(...items);
      };
      const docs = values.map((_, doc) => doc);
      const expected = docs.sort((a, b) => (keyOf(a) === keyOf(b) ? 0 : keyOf(a) - keyOf(b)));
      assert.deepEqual(inOrder(column, isDescending, values.length), expected);
    }),
  );
});

test('number list column: storing a list of a million numbers pauses, and stores all of them', () => {
  const column = new NumberListColumn(1, 'double');
  const clock = workBudget.clock;
  workBudget.clock = () => true;
  const steps = column.set(
    0,
    Array.from({ length: 1_000_000 }, (_, at) => (at * 7919) % 1_000_003),
  );
  let pauses = 0;
  while (steps.next().done !== true) pauses += 1;
  workBudget.clock = clock;
  assert.ok(pauses > 1000, `${pauses} pauses`);
  assert.deepEqual(matching(column, conditionOf('equals', 7919), 1), [0]);
});
