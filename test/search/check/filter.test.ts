import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { errorsOf, queryOf } from '../support/checks.ts';

test('groups nest two levels, in groups of the other kind', () => {
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

test('an empty group is no condition', () => {
  assert.equal(queryOf({ filters: { and: [] } }).filter, null);
  assert.equal(queryOf({ filters: { or: [{ and: [] }] } }).filter, null);
  assert.equal(queryOf({ filters: {} }).filter, null);
});

test('conditions and patterns are counted over all groups', () => {
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
