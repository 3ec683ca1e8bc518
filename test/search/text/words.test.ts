import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countCodePoints } from '../../../src/lib/code-points.ts';
import { atOnce } from '../../../src/search/pace.ts';
import { compareText, orderPrefix } from '../../../src/search/text/code-points.ts';
import { EditDistance } from '../../../src/search/text/edit-distance.ts';
import { TermDictionary } from '../../../src/search/text/term-dictionary.ts';
import { allowedDistance, wordsOf, wordsOfAll } from '../../../src/search/text/words.ts';
import { naiveDistance, naiveWords } from '../support/naive.ts';

const runs = 500 * Number(process.env.MILLRACE_RUNS ?? 1);

test('words are runs of letters, marks and digits after NFKC, in lower case, each once', () => {
  assert.deepEqual(wordsOf('Hello, hello WORLD_2'), ['hello', 'world', '2']);
  assert.deepEqual(wordsOf('ﬁne ① x² Ⅷ'), ['fine', '1', 'x2', 'viii']);
  assert.deepEqual(wordsOf("l'été naïve 東京タワー"), ['l', 'été', 'naïve', '東京タワー']);
  assert.deepEqual(wordsOf('𝒜𝒷 😀x'), ['ab', 'x']);
  assert.deepEqual(wordsOf('\ud800a\udc00'), ['a']);
  assert.deepEqual(wordsOf(' -- '), []);
  assert.deepEqual(atOnce(wordsOfAll(['a b', 'b c'])), ['a', 'b', 'c']);
});

test('words of any text are those of a regular expression', () => {
  const char = fc.constantFrom(...'aB é́ñ中文٣²ﬁⅧ😀𝒜_-\ud800\udc00İΣß');
  fc.assert(
    fc.property(
      fc.string({ unit: fc.oneof(char, fc.string({ minLength: 1, maxLength: 1, unit: 'binary' })) }),
      (text) => {
        assert.deepEqual(wordsOf(text), naiveWords(text));
      },
    ),
    { numRuns: runs },
  );
});

test('a word of millions of characters neither overflows nor is indexed', () => {
  assert.deepEqual(wordsOf(`short ${'中'.repeat(3_000_000)} end`), ['short', 'end']);
  const long = 'é'.repeat(4600);
  assert.deepEqual(wordsOf(long), [long]);
});

test('how many edits a word allows depends on its length in code points', () => {
  const lengths = [1, 2, 3, 5, 6, 50].map((length) => allowedDistance('😀'.repeat(length)));
  assert.deepEqual(lengths, [0, 0, 1, 1, 2, 2]);
});

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '😀', '𝒜'), maxLength: 9 });

test('the distance is optimal string alignment, cut at its bound', () => {
  const distance = new EditDistance();
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 2 }), (a, b, bound) => {
      distance.setWord(a);
      assert.equal(distance.within(b, bound), Math.min(naiveDistance(a, b), bound + 1));
    }),
    { numRuns: runs * 4 },
  );
  distance.setWord('ca');
  assert.equal(distance.within('abc', 2), 3, 'no part is edited twice');
});

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

test('text is ordered by code points, and its prefix never contradicts that', () => {
  const any = fc.string({
    unit: fc.constantFrom('a', 'b', 'é', '中', '\uffee', '\ud83d', '\ude00', '😀', '\ue000', '\u0000'),
    maxLength: 8,
  });
  fc.assert(
    fc.property(any, any, (a, b) => {
      const expected = Math.sign(compareArrays(codePoints(a), codePoints(b)));
      assert.equal(Math.sign(compareText(a, b)), expected);
      const byPrefix = Math.sign(orderPrefix(a) - orderPrefix(b));
      assert.ok(byPrefix === 0 || byPrefix === expected);
      assert.equal(countCodePoints(a), codePoints(a).length);
    }),
    { numRuns: runs * 2 },
  );
});

function codePoints(text: string): number[] {
  return [...text].map((char) => char.codePointAt(0) ?? 0);
}

function compareArrays(a: number[], b: number[]): number {
  const at = a.findIndex((point, index) => point !== b[index]);
  if (at < 0) return a.length - b.length;
  return (a[at] ?? -1) - (b[at] ?? -1);
}
