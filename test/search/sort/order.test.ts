import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NumberColumn } from '../../../src/search/columns/number-column.ts';
import { absentOrder, longPlace } from '../../../src/search/sort/order.ts';
import { filled } from '../support/columns.ts';

test('order: a field that no doc has makes all docs equal, without a value', () => {
  const keys = new Float64Array(3);
  assert.equal(absentOrder.keys(new Int32Array(3), 0, 3, keys), 3);
  assert.deepEqual([...keys], Array(3).fill(Number.POSITIVE_INFINITY));
  assert.equal(absentOrder.key(1), absentOrder.keyOf(null));
  assert.equal(absentOrder.compare(0, 1), 0);
  assert.equal(absentOrder.compareTo(0, 'anything'), 0);
  assert.equal(absentOrder.value(0), null);
});

const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test('number order: the sort value of a long is a string in the order of longs', () => {
  fc.assert(
    fc.property(long, long, (a, b) => {
      assert.equal(longPlace(a) < longPlace(b), a < b);
    }),
  );
  assert.equal(longPlace(-(2n ** 63n)), '0'.repeat(20));
});

test('number order: a doc equals its own sort value, and no other', () => {
  const column = filled(new NumberColumn(3, 'long'), [
    '9007199254740993',
    '9007199254740992',
    '9007199254740994',
  ]);
  for (const isDescending of [false, true]) {
    const order = column.order(isDescending);
    const place = order.value(0);
    assert.equal(order.keyOf(place), order.key(0));
    const compared = [0, 1, 2].map(
      (doc) => Math.sign(order.key(doc) - order.keyOf(place) || order.compareTo(doc, place)) || 0,
    );
    assert.deepEqual(compared, isDescending ? [0, 1, -1] : [0, -1, 1]);
  }
});

test('number order: a sort value from a forged token that is not a long counts as zero', () => {
  const order = new NumberColumn(1, 'long').order(false);
  assert.equal(order.keyOf('not digits'), 0);
  assert.equal(order.keyOf(null), Number.POSITIVE_INFINITY);
});
