import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsOf, queryOf } from '../support/checks.ts';

test('a facet on a field that cannot be faceted is not valid, which is no mistake', () => {
  const facets = [
    'keyword',
    'object',
    'integerRange',
    'nope',
    '_originId',
    '_sourceGuid',
    '_updatedAt',
    '_score',
  ];
  const checked = queryOf({ facets: facets.map((field) => ({ field })) }).facets;
  assert.deepEqual(
    checked.filter(({ isValid }) => isValid).map(({ field }) => field),
    ['keyword', '_originId', '_sourceGuid'],
  );
  assert.deepEqual(checked[0], { field: 'keyword', name: 'keyword', size: 10, isValid: true });
});

test('a facet has the name of its field and ten groups, unless it says otherwise', () => {
  const facets = [{ field: 'keyword' }, { field: 'keyword', name: 'Country', size: 100 }];
  assert.deepEqual(queryOf({ facets }).facets, [
    { field: 'keyword', name: 'keyword', size: 10, isValid: true },
    { field: 'keyword', name: 'Country', size: 100, isValid: true },
  ]);
  for (const size of [-1, 101, 1.5, '5'])
    assert.equal(errorsOf({ facets: [{ field: 'keyword', size }] }).length, 1);
  assert.match(
    errorsOf({ facets: [{ field: 'keyword', name: 5 }] })[0] ?? '',
    /^facets\[0\]\.name: must be a string/,
  );
});
