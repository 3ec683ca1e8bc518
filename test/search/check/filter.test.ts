import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { condition, errorsOf, queryOf } from '../support/checks.ts';

test('filter: groups nest two levels deep, each in a group of the other kind', () => {
  const leaf = { field: 'keyword', operator: 'equals', value: 'a' };
  assert.deepEqual(errorsOf({ filters: { and: [leaf, { or: [leaf, leaf] }, { or: [] }] } }), []);
  assert.match(
    errorsOf({ filters: { and: [{ and: [leaf] }] } })[0] ?? '',
    /^filters\.and\[0\]: an "and" group inside/,
  );
  assert.match(errorsOf({ filters: { or: [{ and: [{ or: [leaf] }] }] } })[0] ?? '', /two levels/);
  assert.match(errorsOf({ filters: { and: [leaf], or: [leaf] } })[0] ?? '', /both "and" and "or"/);
  assert.match(errorsOf({ filters: leaf })[0] ?? '', /^filters: a condition must be inside/);
  assert.equal(errorsOf({ filters: [leaf] }).length, 1);
  assert.equal(errorsOf({ filters: { and: leaf } }).length, 1);
  assert.equal(errorsOf({ filters: { and: ['x', null] } }).length, 2);
});

test('filter: an empty group is ignored', () => {
  assert.equal(queryOf({ filters: { and: [] } }).filter, null);
  assert.equal(queryOf({ filters: { or: [{ and: [] }] } }).filter, null);
  assert.equal(queryOf({ filters: {} }).filter, null);
});

test('filter: conditions and patterns are counted over all groups', () => {
  const many = (count: number, value: string): Json[] =>
    Array.from({ length: count }, () => ({ field: 'keyword', operator: 'contains', value }));
  assert.deepEqual(errorsOf({ filters: { or: many(1000, 'a') } }), []);
  assert.match(
    errorsOf({ filters: { or: [...many(1000, 'a'), { and: many(1, 'a') }] } })[0] ?? '',
    /^filters: 1001 /,
  );
  assert.deepEqual(errorsOf({ filters: { or: many(100, '*a*') } }), []);
  assert.match(
    errorsOf({ filters: { or: [...many(100, '*a*'), { and: many(1, '*') }] } })[0] ?? '',
    /^filters: 101 /,
  );
});

test('filter: ordering operators need numbers, dates or ranges, and a value of that type', () => {
  for (const field of ['integer', 'long[]', 'date', 'dateRange', '_updatedAt', 'doubleRange']) {
    assert.deepEqual(errorsOf(condition(field, 'greaterThan', 5)), [], field);
  }
  assert.deepEqual(errorsOf(condition('date', 'lessThan', '2024-01-01')), []);
  assert.deepEqual(errorsOf(condition('long', 'lessThan', '9223372036854775807')), []);
  for (const field of ['keyword', 'text', 'boolean', 'keyword[]', '_originId', 'object']) {
    assert.ok(errorsOf(condition(field, 'lessThanOrEquals', 5)).length > 0, field);
  }
  for (const value of ['many', true, null, [1], { gt: 1 }]) {
    assert.equal(errorsOf(condition('integer', 'greaterThan', value)).length, 1, JSON.stringify(value));
  }
  assert.equal(errorsOf(condition('date', 'greaterThan', 'today')).length, 1);
});

test('filter: a value of another type is not an error; it equals nothing', () => {
  assert.deepEqual(errorsOf(condition('integer', 'equals', true)), []);
  assert.deepEqual(errorsOf(condition('boolean', 'equals', 5)), []);
  assert.deepEqual(errorsOf(condition('date', 'equals', 'abc')), []);
  assert.deepEqual(errorsOf(condition('keyword', 'in', [1, null, 'a', true])), []);
  assert.match(errorsOf(condition('keyword', 'in', 5))[0] ?? '', /in needs an array/);
  assert.match(errorsOf(condition('keyword', 'equals', ['a']))[0] ?? '', /use "in"/);
});

test('filter: contains needs strings or a list; objects are not searchable', () => {
  for (const field of ['keyword', 'text', 'keywordText[]', 'date[]']) {
    assert.deepEqual(errorsOf(condition(field, 'contains', 'a')), [], field);
  }
  assert.deepEqual(errorsOf(condition('integer[]', 'contains', 5)), []);
  assert.deepEqual(errorsOf(condition('boolean[]', 'contains', true)), []);
  for (const field of ['integer', 'boolean', 'date', 'integerRange', 'object', '_updatedAt']) {
    assert.equal(errorsOf(condition(field, 'contains', 'a')).length, 1, field);
  }
  assert.deepEqual(errorsOf(condition('object', 'notEquals', null)), []);
  assert.equal(errorsOf(condition('object', 'equals', 'a')).length, 1);
});
