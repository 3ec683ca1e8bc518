import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { ScalarCodes } from '../../../src/search/columns/scalar-codes.ts';
import { bindFilter } from '../../../src/search/filter/bind-filter.ts';
import type { CheckedOperator, FilterNode } from '../../../src/search/filter/condition.ts';
import { filled } from '../support/columns.ts';
import { scanned, setOf } from '../support/matchers.ts';

const column = filled(new ScalarCodes(5, 'text'), ['a', 'b', null, 'a', null]);
// Doc 4 was removed.
const scope = {
  live: setOf([0, 1, 2, 3], 5),
  docCount: 5,
  column: (name: string) => (name === 'f' ? column : undefined),
};

function condition(operator: CheckedOperator, value: Json, field = 'f'): FilterNode {
  return { kind: 'condition', field, operator, value, caseInsensitive: false };
}

function found(node: FilterNode): number[] {
  return scanned(runSync(bindFilter(node, scope)), 5);
}

test('bind filter: absent values equal null, and differ from all others', () => {
  assert.deepEqual(found(condition('equals', null)), [2]);
  assert.deepEqual(found(condition('notEquals', null)), [0, 1, 3]);
  assert.deepEqual(found(condition('notEquals', 'a')), [1, 2]);
  assert.deepEqual(found(condition('in', ['b', null])), [1, 2]);
  assert.deepEqual(found(condition('in', [])), []);
});

test('bind filter: a field that no doc has is absent everywhere', () => {
  assert.deepEqual(found(condition('equals', null, 'g')), [0, 1, 2, 3]);
  assert.deepEqual(found(condition('notEquals', null, 'g')), []);
  assert.deepEqual(found(condition('notEquals', 'a', 'g')), [0, 1, 2, 3]);
  assert.deepEqual(found(condition('in', ['a'], 'g')), []);
});

test('bind filter: groups are combined, and an empty one always holds', () => {
  const [isA, isAbsent] = [condition('equals', 'a'), condition('equals', null)];
  assert.deepEqual(found({ kind: 'or', nodes: [isA, isAbsent] }), [0, 2, 3]);
  assert.deepEqual(found({ kind: 'and', nodes: [isA, isAbsent] }), []);
  assert.deepEqual(found({ kind: 'and', nodes: [isA] }), [0, 3]);
  assert.deepEqual(found({ kind: 'and', nodes: [] }), [0, 1, 2, 3]);
});
