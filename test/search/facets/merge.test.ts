import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import { compareGroups } from '../../../src/search/facets/facet.ts';
import { CountSum, mergeFacet, sharedNeeds } from '../../../src/search/facets/merge.ts';
import type { FacetGroup, FacetGroups } from '../../../src/search/shard-answer.ts';
import { everything, facetOf } from '../../query/support/queries.ts';
import { runs } from '../../support/runs.ts';

const counts = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), fc.integer({ min: 1, max: 9 }));

function groupsOf(shard: Record<string, number>): FacetGroup[] {
  return Object.entries(shard)
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => compareGroups(a, b, undefined));
}

/** The result of a shard that sends `limit` groups. */
function partOf(shard: Record<string, number>, limit: number): FacetGroups {
  const all = groupsOf(shard);
  const groups = all.slice(0, limit);
  return groups.length === all.length ? { groups } : { groups, restMax: groups.at(-1)?.count ?? 0 };
}

/** The counts of a shard for given values, or for all. */
function countedOf(
  shard: Record<string, number>,
  values: readonly FacetGroup['value'][] | null,
): FacetGroups {
  return { groups: groupsOf(shard).filter(({ value }) => values === null || values.includes(value)) };
}

test('merge: merged groups are the first of all items, after at most one further round', () => {
  fc.assert(
    fc.property(
      fc.array(counts, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 4 }),
      fc.nat(3),
      (shards, size, more) => {
        const sums: Record<string, number> = {};
        for (const shard of shards)
          for (const [value, count] of Object.entries(shard)) sums[value] = (sums[value] ?? 0) + count;
        const first = mergeFacet(
          shards.map((shard) => partOf(shard, size + more)),
          size,
        );
        const { unknown } = first;
        const sum = new CountSum();
        if (unknown !== null)
          for (const shard of shards) sum.add(countedOf(shard, unknown.values).groups, undefined);
        const groups = unknown === null ? first.groups : runSync(sum.first(size));
        assert.deepEqual(groups, groupsOf(sums).slice(0, size));
      },
    ),
    { numRuns: runs(1000) },
  );
});

test('merge: dates that shards write differently are one group', () => {
  const date = (...groups: FacetGroup[]): FacetGroups => ({ groups, scale: 'date' });
  const parts = [
    date({ value: '2024-01-01T00:00:00Z', count: 2 }, { value: '2024-01-02', count: 1 }),
    date({ value: '2024-01-01', count: 1 }, { value: 1704153600000, count: 1 }),
  ];
  assert.deepEqual(mergeFacet(parts, 10).groups, [
    { value: '2024-01-01', count: 3 },
    { value: 1704153600000, count: 2 },
  ]);
  const sum = new CountSum();
  for (const { groups, scale } of parts) sum.add(groups, scale);
  assert.deepEqual(runSync(sum.first(1)), [{ value: '2024-01-01', count: 3 }]);
});

test('merge: the first groups of very many values are found', () => {
  const sum = new CountSum();
  for (const shard of [0, 1, 2])
    for (let n = 0; n < 3000; n += 1) sum.add([{ value: (n * 7) % 3000, count: n % (2 + shard) }], undefined);
  const counts = Array.from({ length: 3000 }, (_, n) => ({
    value: (n * 7) % 3000,
    count: (n % 2) + (n % 3) + (n % 4),
  }));
  const inOrder = counts.sort((a, b) => b.count - a.count || a.value - b.value);
  assert.deepEqual(runSync(sum.first(100)), inOrder.slice(0, 100));
});

test('merge: facets that count the same are requested once, with all their values', () => {
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
