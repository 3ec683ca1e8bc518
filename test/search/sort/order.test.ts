import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absentOrder } from '../../../src/search/sort/order.ts';

test('order: a field that no doc has makes all docs equal, without a value', () => {
  const keys = new Float64Array(3);
  assert.equal(absentOrder.keys(new Int32Array(3), 0, 3, keys), 3);
  assert.deepEqual([...keys], Array(3).fill(Number.POSITIVE_INFINITY));
  assert.equal(absentOrder.key(1), absentOrder.keyOf('anything'));
  assert.equal(absentOrder.compare(0, 1), 0);
  assert.equal(absentOrder.compareTo(0, 'anything'), 0);
  assert.equal(absentOrder.value(0), null);
});
