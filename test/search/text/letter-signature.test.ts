import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  goneSignature,
  LetterSignatureFilter,
  letterSignatureOf,
} from '../../../src/search/text/letter-signature.ts';
import { runs } from '../../support/runs.ts';
import { naiveDistance, naivePrefixDistance } from '../support/naive-search.ts';

const runCount = runs(2_000);
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'z', 'é', '😀'), minLength: 1, maxLength: 8 });
const long = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 28, maxLength: 36 });

test('letter signature: the signatures of all near terms pass, and those of removed terms do not', () => {
  fc.assert(
    fc.property(
      fc.oneof(word, long),
      fc.oneof(word, long),
      fc.integer({ min: 0, max: 2 }),
      fc.boolean(),
      (asked, term, bound, isPrefix) => {
        const filter = new LetterSignatureFilter(asked, bound, isPrefix);
        const distance = isPrefix ? naivePrefixDistance(asked, term) : naiveDistance(asked, term);
        if (distance <= bound) assert.ok(filter.passes(letterSignatureOf(term)));
        assert.ok(!filter.passes(goneSignature));
      },
    ),
    { numRuns: runCount },
  );
});

test('letter signature: a term with more differing letters than edits does not pass, on either side', () => {
  const passes = (asked: string, term: string, bound: number) =>
    new LetterSignatureFilter(asked, bound, false).passes(letterSignatureOf(term));
  assert.ok(passes('abcd', 'abxy', 2));
  assert.ok(!passes('abcd', 'abxy', 1));
  assert.ok(!passes('abcd', 'axyz', 2));
  assert.ok(!passes('aaaa', 'aaaaaaa', 2));
  assert.ok(
    new LetterSignatureFilter('aaaa', 2, true).passes(letterSignatureOf('aaaaaaaxyz')),
    'the term can continue in any way',
  );
});
