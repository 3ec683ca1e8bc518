import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { type Ranked, rankComparer } from '../../../src/schemas/lookup/compiled-lookup.ts';
import { runs } from '../../support/runs.ts';

const values: Json[] = [2, -1.5, 10, '10', '9', '', 'a', '\uffff', '😀', true, false, null, [1], { a: 1 }];

test('lookup order: numbers come before strings before booleans, all else last in both directions, ties by originId', () => {
  const mixed = [null, 2, 10, '10', '9', 'a', '\uffff', '😀', true, false, [1]];
  const given = mixed.map((value, i) => ({ originId: String.fromCharCode(109 - i), value }));
  const ordered = (sort: 'asc' | 'desc') => given.toSorted(rankComparer(sort)).map(({ value }) => value);
  const ascending = [2, 10, '10', '9', 'a', '\uffff', '😀', false, true];
  assert.deepEqual(ordered('asc'), [...ascending, [1], null]);
  assert.deepEqual(ordered('desc'), [...ascending.toReversed(), [1], null]);
});

test('lookup order: ties are ordered by the code points of the originId, in both directions', () => {
  const tied = ['\uffff', '😀', 'b', 'a', 'B'].map((originId) => ({ originId, value: 1 }));
  for (const sort of ['asc', 'desc'] as const) {
    const ids = tied.toSorted(rankComparer(sort)).map(({ originId }) => originId);
    assert.deepEqual(ids, ['B', 'a', 'b', '\uffff', '😀']);
  }
});

test('lookup order: sorting in parts and together gives the same order', () => {
  const entity = fc.record({ value: fc.constantFrom(...values), originId: fc.string({ maxLength: 2 }) });
  const list = fc.uniqueArray(entity, { selector: ({ originId }) => originId, maxLength: 12 });
  fc.assert(
    fc.property(list, fc.constantFrom('asc', 'desc'), fc.nat(12), (entities, sort, at) => {
      const sorted = (some: readonly Ranked[]) => some.toSorted(rankComparer(sort));
      const inParts = [...sorted(entities.slice(at)), ...sorted(entities.slice(0, at))];
      assert.deepEqual(sorted(inParts), sorted(entities));
      assert.deepEqual(sorted(entities.toReversed()), sorted(entities));
    }),
    { numRuns: runs(300) },
  );
});
