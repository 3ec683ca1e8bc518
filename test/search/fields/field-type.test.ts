import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvariantError } from '../../../src/lib/assert.ts';
import {
  type FieldTable,
  isFacetable,
  isOrdered,
  isSortable,
  meaningOf,
  traitsOf,
} from '../../../src/search/fields/field-type.ts';
import { allTypes } from '../support/arbitraries.ts';

test('field type: the name of a type determines its shape, how it is compared, and whether it is searched', () => {
  assert.deepEqual(traitsOf('text[]'), { shape: 'list', kind: 'text', isSearchable: true });
  assert.deepEqual(traitsOf('keyword'), { shape: 'scalar', kind: 'text', isSearchable: false });
  assert.deepEqual(traitsOf('longRange'), { shape: 'range', kind: 'long', isSearchable: false });
  assert.deepEqual(traitsOf('object'), { shape: 'object', kind: 'json', isSearchable: false });
});

test('field type: scalars and lists have facets and an order; numbers, dates and their ranges are ordered by size', () => {
  for (const type of new Set(allTypes.values())) {
    const traits = traitsOf(type);
    assert.equal(isSortable(traits), !/^object|^geoPoint|Range$/.test(type), type);
    assert.equal(isFacetable(traits), isSortable(traits), type);
    assert.equal(isOrdered(traits), /^(integer|long|float|double|date)/.test(type), type);
  }
});

test('field type: an unknown type name is a bug', () => {
  assert.throws(() => traitsOf('toString' as 'keyword'), InvariantError);
});

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
