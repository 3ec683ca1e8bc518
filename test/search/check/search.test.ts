import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsOf, queryOf } from '../support/checks.ts';

test('searches are counted in code points, at most 256', () => {
  assert.deepEqual(errorsOf({ search: { field: 'text', value: '😀'.repeat(256) } }), []);
  assert.equal(errorsOf({ search: { field: 'text', value: '😀'.repeat(257) } }).length, 1);
  for (const field of ['text', 'text[]', 'keywordText', 'keywordText[]']) {
    assert.deepEqual(errorsOf({ search: { field, value: 'a' } }), []);
  }
  for (const field of ['keyword', 'integer', 'object', '_originId', '_score']) {
    assert.equal(errorsOf({ search: { field, value: 'a' } }).length, 1, field);
  }
});

test('a search is literal only where it says so', () => {
  assert.deepEqual(queryOf({ search: { field: 'text', value: 'a' } }).search, {
    field: 'text',
    value: 'a',
    literal: false,
  });
  assert.equal(queryOf({ search: { field: 'text', value: 'a', literal: true } }).search?.literal, true);
  assert.deepEqual(errorsOf({ search: {} }), ['search.field: is missing', 'search.value: is missing']);
});
