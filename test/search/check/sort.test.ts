import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsOf, queryOf } from '../support/checks.ts';

test('sort: a search is sorted by its score, and custom sorts ascend', () => {
  const search = { field: 'text', value: 'word' };
  assert.deepEqual(queryOf({ search }).sort, [{ field: '_score', order: 'desc' }]);
  assert.deepEqual(queryOf({ sort: [{ field: 'integer' }, { field: 'integer', order: 'asc' }] }).sort, [
    { field: 'integer', order: 'asc' },
  ]);
});

test('sort: a repeated key is dropped, unless its order differs', () => {
  const sort = [{ field: 'integer[]' }, { field: 'integer[]' }, { field: 'integer[]', order: 'desc' }];
  assert.deepEqual(queryOf({ sort }).sort, [
    { field: 'integer[]', order: 'asc' },
    { field: 'integer[]', order: 'desc' },
  ]);
});

test('sort: scores, ids and scalars have an order; ranges and objects have none', () => {
  for (const field of ['_score', '_originId', '_sourceGuid', '_updatedAt', 'boolean', 'keyword[]']) {
    assert.deepEqual(errorsOf({ sort: [{ field }] }), [], field);
  }
  for (const field of ['object', 'dateRange']) {
    assert.match(errorsOf({ sort: [{ field }] })[0] ?? '', /^sort\[0\]\.field: .* cannot be sorted/);
  }
});

test('sort: at most 100 keys', () => {
  const sort = Array.from({ length: 101 }, () => ({ field: 'integer' }));
  assert.deepEqual(errorsOf({ sort: sort.slice(1) }), []);
  assert.deepEqual(errorsOf({ sort }), ['sort: 101 keys; at most 100 are allowed']);
});
