import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countCodePoints } from '../../../src/lib/code-points.ts';
import { NearIndex, NearIndexBuilder } from '../../../src/search/text/near-index.ts';
import { naiveBeginningDistance, naiveDistance } from '../support/naive-search.ts';

const runs = 1_000 * Number(process.env.MILLRACE_RUNS ?? 1);
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '😀', '\ud83d'), maxLength: 10 });

function indexOf(terms: readonly (string | undefined)[], atOnce: number): NearIndex {
  const builder = new NearIndexBuilder(terms, terms.length);
  for (;;) {
    const made = builder.advance(atOnce);
    if (made !== null) return made;
  }
}

function placesNear(index: NearIndex, asked: string, bound: number): Set<number> {
  const { places, starts } = index;
  const near = index
    .bucketsNear(asked, bound)
    .flatMap((bucket) => [...places.subarray(starts[bucket], starts[bucket + 1])]);
  return new Set(near);
}

test('the buckets of a word have every term within the distance, and every beginning where they say so', () => {
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 40 }),
      word,
      fc.constantFrom(1, 2),
      fc.integer({ min: 1, max: 50 }),
      (terms, asked, bound, atOnce) => {
        const found = placesNear(indexOf(terms, atOnce), asked, bound);
        const isForBeginnings = NearIndex.knowsBeginnings(countCodePoints(asked), bound);
        for (const [place, term] of terms.entries()) {
          const isNear = naiveDistance(asked, term) <= bound;
          const isBegun = isForBeginnings && naiveBeginningDistance(asked, term) <= bound;
          if (isNear || isBegun) assert.ok(found.has(place), `${asked} finds ${term}`);
        }
      },
    ),
    { numRuns: runs },
  );
});

test('the buckets of a word have next to none of the terms that are far from it', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const terms = Array.from({ length: 20_000 }, (_, at) =>
    Array.from({ length: 8 }, (_letter, place) => letters[(at * 7919 + at * at * (place + 3)) % 26]).join(''),
  );
  const index = indexOf(terms, 1_000);
  assert.ok(placesNear(index, terms[777] ?? '', 2).size < terms.length / 20);
});

test('terms that go while the index is made spoil nothing', () => {
  const terms: (string | undefined)[] = ['house', 'mouse', 'garden', 'houses', 'gardens'];
  const builder = new NearIndexBuilder(terms, terms.length);
  assert.equal(builder.advance(terms.length), null);
  terms[1] = undefined;
  const index = builder.advance(terms.length);
  assert.ok(index !== null);
  const found = placesNear(index, 'hoses', 2);
  assert.ok(found.has(0) && found.has(3));
});
