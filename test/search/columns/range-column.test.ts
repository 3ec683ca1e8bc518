import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { RangeColumn } from '../../../src/search/columns/range-column.ts';
import { conditionOf, filled, matching } from '../support/columns.ts';

const bound = fc.integer({ min: -4, max: 4 });
const range = fc
  .record({ low: fc.constantFrom('gt', 'gte'), from: bound, high: fc.constantFrom('lt', 'lte'), to: bound })
  .map(({ low, from, high, to }): Record<string, number> => ({ [low]: from, [high]: to }));
const whole = Array.from({ length: 13 }, (_, at) => at - 6);

function has({ gt = -9, gte = -9, lt = 9, lte = 9 }: Record<string, number>, value: number): boolean {
  return value > gt && value >= gte && value < lt && value <= lte;
}

test('range column: a range of integers matches like the integers it contains', () => {
  const holds: Record<string, (value: number, asked: number) => boolean> = {
    equals: (value, asked) => value === asked,
    greaterThan: (value, asked) => value > asked,
    lessThanOrEquals: (value, asked) => value <= asked,
  };
  fc.assert(
    fc.property(
      fc.array(range),
      fc.constantFrom('equals', 'greaterThan', 'lessThanOrEquals'),
      bound,
      (ranges, name, asked) => {
        const column = filled(new RangeColumn(100, 'integer'), ranges);
        const expected = ranges.flatMap((each, doc) =>
          whole.some((value) => has(each, value) && holds[name]?.(value, asked)) ? [doc] : [],
        );
        assert.deepEqual(matching(column, conditionOf(name as 'equals', asked), ranges.length), expected);
      },
    ),
  );
});

test('range column: one of the listed values must be in the range', () => {
  const column = filled(new RangeColumn(3, 'double'), [{ gte: 0, lt: 1 }, { gt: 5 }, { lte: -1 }]);
  assert.deepEqual(matching(column, conditionOf('in', [1, 0.5, -1]), 3), [0, 2]);
  assert.deepEqual(matching(column, conditionOf('contains', 0.5), 3), []);
});

test('range column: a range has no order, and a value that is not a range is ignored', () => {
  const column = filled(new RangeColumn(2, 'integer'), [{ gt: 'a' } as Json, 5]);
  assert.equal(column.order(), null);
  assert.ok(!column.present.has(0) && !column.present.has(1));
});
