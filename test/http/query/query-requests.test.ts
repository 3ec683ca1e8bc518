import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProblemError } from '../../../src/contract/errors.ts';
import { targetedRequest } from '../../../src/http/query/query-requests.ts';

test('query requests: a query without a target gets an error with both ways to name one', () => {
  assert.throws(
    () => targetedRequest({ search: { field: 'name', value: 'x' } }),
    (error) => {
      assert.ok(error instanceof ProblemError);
      assert.deepEqual(error.problem.errors, [
        'Missing target: send index, or sourceGroupAlias and sourceEntityType',
      ]);
      return true;
    },
  );
  assert.deepEqual(targetedRequest({ index: 5 }).errors, ['index must be a string']);
  assert.deepEqual(targetedRequest({ sourceGroupAlias: 'cms' }).errors, [
    'sourceEntityType must be a string',
  ]);
  assert.deepEqual(targetedRequest({ index: 'a', sourceGroupAlias: 'cms' }).target, {
    kind: 'index',
    alias: 'a',
  });
});
