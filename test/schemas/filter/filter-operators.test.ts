import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { comparisons, isOperator, propertyMatches, textFunctions } from '../../../src/schemas/filter/node.ts';

test('filter operators: equality is deep and typed', () => {
  assert.ok(comparisons.eq({ a: [1], b: 2 }, { b: 2, a: [1] }));
  assert.ok(comparisons.ne(9, '9'));
  assert.ok(comparisons.eq(null, null));
});

test('filter operators: order is defined only between two numbers, two strings or two booleans', () => {
  assert.ok(comparisons.gt(10, 9) && comparisons.le(9, 9) && comparisons.lt(false, true));
  assert.ok(comparisons.lt('\uffff', '\u{10000}'), 'strings are ordered by code points');
  const others: [Json, Json][] = [
    [1, '2'],
    [null, null],
    [[1], [2]],
    [true, 1],
  ];
  for (const [a, b] of others) {
    for (const name of ['gt', 'ge', 'lt', 'le'] as const) assert.equal(comparisons[name](a, b), false);
  }
});

test('filter operators: string functions accept strings; contains also accepts an array that has the value', () => {
  assert.ok(textFunctions.startswith('Paris', 'Pa') && textFunctions.endswith('Paris', 'is'));
  assert.ok(textFunctions.contains('Paris', 'ari') && textFunctions.contains([1, 'ari'], 1));
  assert.equal(textFunctions.contains(['Paris'], 'ari'), false);
  assert.equal(textFunctions.startswith(12, '1'), false);
});

test('filter operators: a property match compares scalars by their string, and nothing matches null', () => {
  assert.ok(propertyMatches.equals(9, '9') && propertyMatches.contains([1, 2], '2'));
  assert.ok(propertyMatches.contains('Paris', 'ari'));
  assert.equal(propertyMatches.equals(null, null), false);
  assert.equal(propertyMatches.equals(['a'], 'a'), false);
});

test('filter operators: names on a prototype are not operators', () => {
  assert.ok(isOperator(comparisons, 'eq'));
  for (const name of ['constructor', 'toString', '__proto__', 3, null]) {
    assert.equal(isOperator(comparisons, name), false);
  }
});
