import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createColumn } from '../../../src/search/columns/create-column.ts';
import { allTypes } from '../support/arbitraries.ts';
import { conditionOf, filled, matching } from '../support/columns.ts';

test('create column: each type has a column, with an order unless it is a range, a point or an object', () => {
  for (const type of new Set(allTypes.values())) {
    const hasOrder = createColumn(type, 1).order(false) !== null;
    assert.equal(hasOrder, !/^object|^geoPoint|Range$/.test(type), type);
  }
});

test('create column: only the presence of an object is indexed', () => {
  const column = filled(createColumn('object', 2), [{ a: 1 }, null]);
  assert.ok(column.present.has(0) && !column.present.has(1));
  assert.deepEqual(matching(column, conditionOf('equals', 'a'), 2), []);
});
