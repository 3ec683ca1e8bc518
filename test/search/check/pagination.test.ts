import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkQuery } from '../../../src/search/check/query.ts';
import { closed, errorsOf, queryOf } from '../support/checks.ts';

test('pages reach 10,000 items; a token has no depth limit and its page is ignored', () => {
  assert.equal(queryOf({ pagination: { page: 9, pageSize: 1000 } }).offset, 9000);
  assert.equal(errorsOf({ pagination: { page: 10, pageSize: 1000 } }).length, 1);
  assert.equal(errorsOf({ pagination: { page: 1e300 } }).length, 1);
  assert.equal(queryOf({ pagination: { pageSize: 0, page: 1e300 } }).offset, 0);
  for (const pageSize of [-1, 1.5, '10', 1001, true])
    assert.equal(errorsOf({ pagination: { pageSize } }).length, 1);
  const result = checkQuery({ pagination: { page: 1e9, nextPageToken: 't' } }, closed);
  assert.ok(result.ok);
  assert.equal(result.query.offset, 0);
  assert.equal(result.nextPageToken, 't');
  assert.deepEqual(errorsOf({ pagination: { page: 'x', nextPageToken: 't' } }), []);
  assert.equal(errorsOf({ pagination: { nextPageToken: 5 } }).length, 1);
});
