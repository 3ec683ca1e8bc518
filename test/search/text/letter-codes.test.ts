import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  CodeBatch,
  CodeDistance,
  isSharpCode,
  isSharpWord,
  LetterCodes,
} from '../../../src/search/text/letter-codes.ts';
import { runs } from '../../support/runs.ts';
import { naiveDistance, naivePrefixDistance } from '../support/naive-search.ts';

const runCount = runs(4_000);
/** Some are longer than a code. */
const sharp = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'z'), minLength: 1, maxLength: 15 });
// '\x80' and '\x81' have the codes of 'a' and 'b'.
const mixed = fc.string({
  unit: fc.constantFrom('a', 'b', '\x80', '\x81', 'é', '😀', '𝒜', '\ud83d'),
  minLength: 1,
  maxLength: 15,
});

/** The codes of a term between others. */
function codeOf(term: string): { first: number; second: number } {
  const codes = new LetterCodes(3);
  for (const [termId, one] of ['before', term, 'behind'].entries()) codes.set(termId, one);
  const batch = new CodeBatch(2);
  codes.read(Int32Array.of(1), 1, batch);
  return { first: batch.first[0] ?? 0, second: batch.second[0] ?? 0 };
}

test('letter codes: codes are no farther from each other than their words, and exactly as far if they are sharp', () => {
  const distance = new CodeDistance();
  fc.assert(
    fc.property(
      fc.oneof(sharp, mixed),
      fc.oneof(sharp, mixed),
      fc.constantFrom(1, 2),
      fc.boolean(),
      (word, term, bound, isPrefix) => {
        distance.setWord(word);
        const { first, second } = codeOf(term);
        const atLeast = distance.atLeast(first, second, bound, isPrefix);
        const expected = isPrefix ? naivePrefixDistance(word, term) : naiveDistance(word, term);
        if (expected <= bound) assert.ok(atLeast <= expected, `${atLeast} for ${expected}`);
        const isSame = isSharpWord(word) && isSharpCode(first);
        if (isSame) assert.equal(Math.min(atLeast, bound + 1), Math.min(expected, bound + 1));
      },
    ),
    { numRuns: runCount },
  );
});

test('letter codes: a code is sharp if all letters are from a to z, and encoded', () => {
  assert.ok(isSharpCode(codeOf('abcdefghijkl').first));
  for (const term of ['abcdefghijklm', 'abcdé', 'abc1']) assert.ok(!isSharpCode(codeOf(term).first), term);
});
