import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countCodePoints } from '../../../src/lib/code-points.ts';
import {
  DeletionNeighborhoodIndex,
  DeletionNeighborhoodIndexBuilder,
} from '../../../src/search/text/deletion-neighborhood-index.ts';
import { LetterSignatureFilter } from '../../../src/search/text/letter-signature.ts';
import { runs } from '../../support/runs.ts';
import { naiveDistance, naivePrefixDistance } from '../support/naive-search.ts';

const runCount = runs(1_000);
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '😀', '\ud83d'), maxLength: 10 });

function indexOf(terms: readonly (string | undefined)[], runSync: number): DeletionNeighborhoodIndex {
  const builder = new DeletionNeighborhoodIndexBuilder(terms, terms.length);
  for (;;) {
    const made = builder.advance(runSync);
    if (made !== null) return made;
  }
}

function termIdsNear(
  index: DeletionNeighborhoodIndex,
  asked: string,
  bound: number,
  isPrefix = false,
): Set<number> {
  const cursor = index.near(asked, bound);
  const filter = new LetterSignatureFilter(asked, bound, isPrefix);
  const room = new Int32Array(3);
  const found = new Set<number>();
  while (cursor.at.length > 0) {
    const { count, looks } = index.read(cursor, filter, room, 5);
    assert.ok(looks <= 5);
    for (const termId of room.subarray(0, count)) found.add(termId);
  }
  return found;
}

test('deletion neighborhood index: the buckets of a word contain every term within the distance, and every prefix where they claim to', () => {
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 40 }),
      word,
      fc.constantFrom(1, 2),
      fc.integer({ min: 1, max: 50 }),
      (terms, asked, bound, runSync) => {
        const index = indexOf(terms, runSync);
        const found = termIdsNear(index, asked, bound);
        const begun = termIdsNear(index, asked, bound, true);
        const isForPrefixes = DeletionNeighborhoodIndex.knowsPrefixes(countCodePoints(asked), bound);
        for (const [termId, term] of terms.entries()) {
          const isNear = naiveDistance(asked, term) <= bound;
          const isBegun = isForPrefixes && naivePrefixDistance(asked, term) <= bound;
          // An empty term has no letters to index, and no dictionary contains it.
          if (term === '') continue;
          if (isNear) assert.ok(found.has(termId), `${asked} finds ${term}`);
          if (isBegun) assert.ok(begun.has(termId), `${asked} begins ${term}`);
        }
      },
    ),
    { numRuns: runCount },
  );
});

test('deletion neighborhood index: the buckets of a word contain almost no distant terms', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const terms = Array.from({ length: 20_000 }, (_, at) =>
    Array.from({ length: 8 }, (_letter, nth) => letters[(at * 7919 + at * at * (nth + 3)) % 26]).join(''),
  );
  const index = indexOf(terms, 1_000);
  assert.ok(termIdsNear(index, terms[777] ?? '', 2).size < terms.length / 20);
});

test('deletion neighborhood index: terms that are removed while the index is built do no harm', () => {
  const terms: (string | undefined)[] = ['house', 'mouse', 'garden', 'houses', 'gardens'];
  const builder = new DeletionNeighborhoodIndexBuilder(terms, terms.length);
  assert.equal(builder.advance(terms.length), null);
  terms[1] = undefined;
  const index = builder.advance(terms.length);
  assert.ok(index !== null);
  const found = termIdsNear(index, 'hoses', 2);
  assert.ok(found.has(0) && found.has(3));
});
