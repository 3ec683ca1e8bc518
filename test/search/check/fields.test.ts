import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsOf, open, queryOf } from '../support/checks.ts';

test('fields name fields of the index or built-in ones, each once; null asks for all', () => {
  assert.equal(queryOf({}).fields, null);
  assert.equal(queryOf({ fields: null }).fields, null);
  assert.deepEqual(queryOf({ fields: [] }).fields, []);
  const names = ['text', '__proto__', 'text', '_score', '_views', '_distance', '_originId'];
  assert.deepEqual(queryOf({ fields: names }).fields, [...new Set(names)]);
});

test('an unknown field is a mistake in an index and nothing in an auto-indexed group', () => {
  assert.deepEqual(errorsOf({ fields: ['text', 'nope', 5] }), [
    'fields[1]: the index has no field "nope"',
    'fields[2]: must be a string, not 5',
  ]);
  assert.deepEqual(queryOf({ fields: ['nope'] }, open).fields, ['nope']);
  const many = Array<string>(1001).fill('text');
  assert.deepEqual(errorsOf({ fields: many }), ['fields: 1001 field names; at most 1000 are allowed']);
  assert.deepEqual(errorsOf({ fields: 'text' }), ['fields: must be an array of field names, not "text"']);
});
