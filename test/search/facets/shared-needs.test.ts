import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import { sharedNeeds } from '../../../src/search/facets/shared-needs.ts';
import { everything, facetOf } from '../../query/support/queries.ts';

test('facets that count the same are asked for once, with all their values', () => {
  const facets = [facetOf('name'), facetOf('tags'), { ...facetOf('name'), isUnfiltered: true as const }];
  const query: CheckedQuery = { ...everything, facets: [...facets, facetOf('name', 50), facetOf('tags')] };
  const { asked, placeOf } = sharedNeeds(query, [
    { facetIndex: 0, values: ['a', 'b'] },
    { facetIndex: 1, values: ['x'] },
    { facetIndex: 2, values: ['c'] },
    { facetIndex: 3, values: ['b', 'd'] },
    { facetIndex: 4, values: null },
  ]);
  assert.deepEqual(asked, [
    { facetIndex: 0, values: ['a', 'b', 'd'] },
    { facetIndex: 1, values: null },
    { facetIndex: 2, values: ['c'] },
  ]);
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((at) => placeOf.get(at)),
    [0, 1, 2, 0, 1],
  );
});
