import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countCodePoints } from '../../../src/lib/code-points.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { TermDictionary } from '../../../src/search/text/term-dictionary.ts';
import { runs } from '../../support/runs.ts';
import { naiveDistance, naivePrefixDistance } from '../support/naive-search.ts';

const runCount = runs(500);

const word = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', 'é', '😀', '𝒜', '\uff21'),
  minLength: 1,
  maxLength: 9,
});

test('term dictionary: finds every term within the distance and no other, also after removals', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { maxLength: 60 }),
      word,
      fc.integer({ min: 0, max: 2 }),
      (terms, asked, bound) => {
        const dictionary = new TermDictionary();
        for (const term of terms) dictionary.findOrAdd(term);
        const kept = new Set(terms.filter((term) => countCodePoints(term) % 2 === 1));
        let cursor = null;
        do cursor = dictionary.sweep(cursor, 3, (termId) => (kept.has(dictionary.termOf(termId)) ? 1 : -1));
        while (cursor !== null);
        const expected = (distanceTo: typeof naiveDistance) =>
          [...kept]
            .map((term) => ({ term, distance: distanceTo(asked, term) }))
            .filter(({ distance }) => distance <= bound);
        const found = termsOf(dictionary, runSync(dictionary.within(asked, bound)));
        assert.deepEqual(sortByTerm(found), sortByTerm(expected(naiveDistance)));
        const begun = termsOf(dictionary, runSync(dictionary.prefixWithin(asked, bound)));
        assert.deepEqual(sortByTerm(begun), sortByTerm(expected(naivePrefixDistance)));
        assert.equal(dictionary.size, kept.size);
      },
    ),
    { numRuns: runCount },
  );
});

test('term dictionary: a large dictionary, which indexes its terms while it is queried, finds the same as a linear search', () => {
  const pool = [...new Set(fc.sample(word, { seed: 22, numRuns: 20_000 }))];
  const asked = fc.sample(word, { seed: 23, numRuns: 100 });
  const dictionary = new TermDictionary();
  const terms = new Set<string>();
  const grow = (count: number) => {
    for (const term of pool.splice(0, count)) {
      terms.add(term);
      dictionary.findOrAdd(term);
    }
  };
  const check = () => {
    const one = asked.pop() ?? '';
    for (const bound of [0, 1, 2]) {
      const expected = (distanceTo: typeof naiveDistance) =>
        [...terms]
          .map((term) => ({ term, distance: distanceTo(one, term) }))
          .filter(({ distance }) => distance <= bound);
      const near = termsOf(dictionary, runSync(dictionary.within(one, bound)));
      assert.deepEqual(sortByTerm(near), sortByTerm(expected(naiveDistance)));
      const begun = termsOf(dictionary, runSync(dictionary.prefixWithin(one, bound)));
      assert.deepEqual(sortByTerm(begun), sortByTerm(expected(naivePrefixDistance)));
    }
    assert.equal(dictionary.size, terms.size);
  };
  for (const more of [3_000, 1_000, 10]) {
    grow(more);
    check();
    check();
  }
  let cursor = null;
  do {
    cursor = dictionary.sweep(cursor, 1_500, (termId) => {
      const term = dictionary.termOf(termId);
      if (countCodePoints(term) % 3 === 0) return 1;
      terms.delete(term);
      return -1;
    });
    check();
  } while (cursor !== null);
  assert.ok(dictionary.clearAway(), 'most terms are removed');
  check();
  grow(3_000);
  check();
  check();
});

function termsOf(
  dictionary: TermDictionary,
  termIds: readonly (readonly number[])[],
): { readonly term: string; readonly distance: number }[] {
  return termIds.flatMap((ofDistance, distance) =>
    ofDistance
      .map((termId) => ({ term: dictionary.termOf(termId), distance, termId }))
      .filter(({ term, termId }) => dictionary.termIdOf(term) === termId)
      .map(({ term }) => ({ term, distance })),
  );
}

function sortByTerm<T extends { readonly term: string }>(terms: readonly T[]): T[] {
  return [...terms].sort((a, b) => (a.term < b.term ? -1 : 1));
}
