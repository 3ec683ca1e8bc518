import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryValues } from '../../../src/schemas/filter/node.ts';
import { frameOver } from '../support/fixtures.ts';

test('query values: an operand refers to its value by index, and contains it if it is a literal', () => {
  const values = new QueryValues();
  assert.deepEqual(values.addConstant('x'), { index: 0, constant: 'x' });
  assert.deepEqual(
    values.add(({ self }) => self),
    { index: 1, constant: undefined },
  );
  assert.deepEqual(values.addConstant(null), { index: 2, constant: null });
  assert.deepEqual(values.values(frameOver(7)), ['x', 7, null]);
});

test('query values: holes are evaluated again for each query', () => {
  const values = new QueryValues();
  values.add(({ self }) => self);
  assert.deepEqual(values.values(frameOver(1)), [1]);
  assert.deepEqual(values.values(frameOver([2])), [[2]]);
});
