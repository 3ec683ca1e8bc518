import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProblemError } from '../../../src/contract/errors.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import {
  indexTargets,
  namedQueries,
  sourceGroupTargets,
  targetedRequest,
} from '../../../src/http/query/multi-query.ts';

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

test('query requests: a misspelled target or name is an error, any other unknown member is ignored', () => {
  const errorsOf = (query: JsonObject, members = indexTargets) => {
    const [named] = namedQueries([query], members);
    return named?.request.errors;
  };
  assert.deepEqual(errorsOf({ index: 'a', nam: 'x' }), ['nam: unknown member; did you mean `name`?']);
  assert.deepEqual(errorsOf({ index: 'a', NAME: 'x' }), ['NAME: unknown member; did you mean `name`?']);
  assert.deepEqual(errorsOf({ indx: 'a' }), [
    'index must be a string',
    'indx: unknown member; did you mean `index`?',
  ]);
  const ofGroup = { sourceGroupAlias: 'cms', sourceEntityType: 'page' };
  assert.deepEqual(errorsOf({ ...ofGroup, sourceEntitytype: 'x' }, sourceGroupTargets), [
    'sourceEntitytype: unknown member; did you mean `sourceEntityType`?',
  ]);
  const query = { search: null, filters: {}, fields: [], aliases: [], distinct: 'a', tracking: 1, nam: null };
  assert.deepEqual(errorsOf({ index: 'a', name: 'x', ...ofGroup, ...query }), []);
});
