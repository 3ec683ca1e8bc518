import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryIdentity } from '../../../src/search/check/query.ts';
import { closed, errorsOf, open, queryOf } from '../support/checks.ts';

test('distinct needs a field with single values', () => {
  const names = [...closed.fields.keys(), '_originId', '_sourceGuid', '_updatedAt', '_score', 'nope'];
  const scalars = ['keyword', 'text', 'keywordText', 'integer', 'long', 'float', 'double', 'boolean', 'date'];
  assert.deepEqual(
    names.filter((distinct) => errorsOf({ distinct }).length === 0),
    [...scalars, '__proto__', '_originId', '_sourceGuid', '_updatedAt'],
  );
  const needs = 'distinct: needs a field of type keyword, text, a number, boolean or date; ';
  assert.deepEqual(errorsOf({ distinct: 'text[]' }), [`${needs}"text[]" is of type text[]`]);
  assert.deepEqual(errorsOf({ distinct: '_score' }), [`${needs}"_score" is no field of an item`]);
  assert.deepEqual(errorsOf({ distinct: 'nope' }), ['distinct: the index has no field "nope"']);
  assert.deepEqual(errorsOf({ distinct: 'nope' }, open), []);
  assert.deepEqual(errorsOf({ distinct: ['text'], distinctFacets: 0 }), [
    'distinct: must be the name of a field, not "[…]"',
    'distinctFacets: must be true or false, not 0',
  ]);
});

test('facets count what is left, unless distinctFacets says no', () => {
  const distinct = { field: 'text', isForFacets: true, beaten: null };
  assert.deepEqual(queryOf({ distinct: 'text', distinctFacets: null }).distinct, distinct);
  assert.deepEqual(queryOf({ distinct: 'text', distinctFacets: false }).distinct, {
    ...distinct,
    isForFacets: false,
  });
  assert.equal(queryOf({ distinctFacets: false }).distinct, null);
});

test('a token is bound to distinct, and not to what facets count', () => {
  const [none, some, other, uncounted] = [
    {},
    { distinct: 'text' },
    { distinct: 'keyword' },
    { distinct: 'text', distinctFacets: false },
  ].map((body) => queryIdentity(queryOf(body)));
  assert.equal(new Set([none, some, other]).size, 3);
  assert.equal(uncounted, some);
  assert.deepEqual(
    errorsOf({ distinct: 'nope', pagination: { nextPageToken: 'x' } }).at(-1),
    'Invalid nextPageToken',
  );
});
