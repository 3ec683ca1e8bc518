import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countCodePoints } from '../../../src/lib/code-points.ts';
import { atOnce } from '../../../src/search/pace.ts';
import { TermDictionary } from '../../../src/search/text/term-dictionary.ts';
import { naiveDistance } from '../support/naive.ts';

const runs = 500 * Number(process.env.MILLRACE_RUNS ?? 1);

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '😀', '𝒜'), maxLength: 9 });

test('the dictionary finds every term within the distance and no other, also after terms were removed', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { maxLength: 60 }),
      word,
      fc.integer({ min: 0, max: 2 }),
      (terms, asked, bound) => {
        const dictionary = new TermDictionary();
        for (const term of terms) dictionary.add(term);
        const kept = new Set(terms.filter((term) => term !== '' && countCodePoints(term) % 2 === 1));
        let cursor = null;
        do cursor = dictionary.sweep(cursor, 3, (term) => (kept.has(term) ? 1 : -1));
        while (cursor !== null);
        const expected = [...kept]
          .map((term) => ({ term, distance: naiveDistance(asked, term) }))
          .filter(({ distance }) => distance <= bound);
        const found = atOnce(dictionary.within(asked, bound));
        assert.deepEqual(sortByTerm(found), sortByTerm(expected));
        assert.equal(dictionary.size, kept.size);
      },
    ),
    { numRuns: runs },
  );
});

function sortByTerm<T extends { readonly term: string }>(terms: readonly T[]): T[] {
  return [...terms].sort((a, b) => (a.term < b.term ? -1 : 1));
}
