import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { cutterOf } from '../../../src/search/analysis/words.ts';
import { sourceWords } from '../../../src/search/highlight/source-words.ts';
import { runs } from '../../support/runs.ts';
import { naivePlaces } from '../support/naive-highlight.ts';

function wordsIn(text: string): { word: string; start: number; end: number }[] {
  const words: { word: string; start: number; end: number }[] = [];
  runSync(sourceWords(text, (word, start, end) => words.push({ word, start, end })));
  return words;
}

const runCount = runs(1000);

/** Characters that NFKC decomposes, composes with their neighbors, or reorders. */
const odd = [
  ...[
    'a',
    'b',
    '1',
    ' ',
    '-',
    '=',
    'ß',
    'İ',
    'ﬁ',
    '½',
    '㎏',
    '℡',
    '①',
    '¨',
    '…',
    'Å',
    'é',
    '𝒜',
    '😀',
    '\ud83d',
    '\ude00',
  ],
  ...[
    '\u0301',
    '\u0323',
    '\u0308',
    '\u0338',
    '\u3099',
    'か',
    'ｶ',
    'ﾞ',
    '\u1112',
    '\u1161',
    '\u11ab',
    '하',
    'ﾷ',
    'ￂ',
    '\u00ad',
    '\u200b',
    '\u20e3',
    '東',
    '京',
    'Ⅷ',
    'ﷺ',
    '\ufe70',
    '\u0344',
    '\u0f73',
  ],
];
const oddText = fc.string({ unit: fc.constantFrom(...odd), maxLength: 12 });

test('source words: each word maps to the smallest part of the text that it comes from', () => {
  fc.assert(
    fc.property(fc.oneof(oddText, fc.string({ unit: 'binary', maxLength: 8 })), (text) => {
      assert.deepEqual(wordsIn(text), naivePlaces(text));
    }),
    { numRuns: runCount },
  );
});

test('source words: a mark without a letter is not a word; an invisible character can be inside a word, not at its ends', () => {
  assert.deepEqual(wordsIn('=\u0338\u3099'), []);
  assert.deepEqual(wordsIn('\ufe0fGe\u00adsamt\u00ad x'), [
    { word: 'gesamt', start: 1, end: 8 },
    { word: 'x', start: 10, end: 11 },
  ]);
});

test('source words: a long text has the same words as its index', () => {
  const text = 'Ünder the ﬁsh 😀 ２３ e\u0301 '.repeat(5000);
  const words = wordsIn(text);
  assert.deepEqual(
    words.map(({ word }) => word),
    cutterOf('').cut(text),
  );
  for (const { word, start, end } of words.slice(-8)) {
    assert.equal(text.slice(start, end).normalize('NFKC').toLowerCase(), word);
  }
});
