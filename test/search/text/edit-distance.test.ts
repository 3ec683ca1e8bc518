import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EditDistance } from '../../../src/search/text/edit-distance.ts';
import { runs } from '../../support/runs.ts';
import { naiveDistance, naivePrefixDistance } from '../support/naive-search.ts';

const runCount = runs(500);

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '😀', '𝒜'), maxLength: 9 });

test('edit distance: the distance is optimal string alignment, capped at its bound', () => {
  const distance = new EditDistance();
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 2 }), (a, b, bound) => {
      distance.setWord(a);
      assert.equal(distance.within(b, bound), Math.min(naiveDistance(a, b), bound + 1));
    }),
    { numRuns: runCount * 4 },
  );
  distance.setWord('ca');
  assert.equal(distance.within('abc', 2), 3, 'no part is edited twice');
});

test('edit distance: the distance to a prefix is that to the nearest one, capped at its bound', () => {
  const distance = new EditDistance();
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 2 }), (a, b, bound) => {
      distance.setWord(a);
      assert.equal(distance.prefixWithin(b, bound), Math.min(naivePrefixDistance(a, b), bound + 1));
    }),
    { numRuns: runCount * 4 },
  );
});
