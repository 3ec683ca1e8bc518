import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FieldTable, meaningOf } from '../../../src/search/fields/field-table.ts';

const table: FieldTable = {
  fields: new Map([
    ['name', 'text'],
    ['_updatedAt', 'keyword'],
  ]),
  isOpen: false,
};

test('field table: a name is a field (built-in ones first), the score, or an error', () => {
  assert.equal(meaningOf(table, 'name').kind, 'field');
  const updatedAt = meaningOf(table, '_updatedAt');
  assert.ok(updatedAt.kind === 'field' && updatedAt.isBuiltIn && updatedAt.type === 'date');
  assert.equal(meaningOf(table, '_score').kind, 'score');
  assert.equal(meaningOf(table, 'constructor').kind, 'unknown');
});

test('field table: in an auto-indexed group no field is an error', () => {
  assert.equal(meaningOf({ ...table, isOpen: true }, 'constructor').kind, 'absent');
});
