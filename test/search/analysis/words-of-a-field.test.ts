import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages } from '../../../src/schemas/definition/index-texts.ts';
import { foldAccents } from '../../../src/search/analysis/fold.ts';
import { stemmerOf, stopWordsOf } from '../../../src/search/analysis/languages.ts';
import { PhraseFinder, SynonymTable } from '../../../src/search/analysis/phrase-terms.ts';
import { cutterOf } from '../../../src/search/analysis/words.ts';

test('folding: accents are dropped, and letters with strokes and ligatures become plain letters', () => {
  const folded = [
    'straße',
    'æon',
    'œuvre',
    'søren',
    'łódź',
    'đà',
    'ılık',
    'crème',
    'i\u0307',
    '한국',
    '\u0301',
  ].map((word) => foldAccents(word));
  assert.deepEqual(folded, [
    'strasse',
    'aeon',
    'oeuvre',
    'soren',
    'lodz',
    'da',
    'ilik',
    'creme',
    'i',
    '한국',
    '\u0301',
  ]);
});

test('stems: words of a language have stems, words that are too long have none', () => {
  const same: [Parameters<typeof stemmerOf>[0], string[]][] = [
    ['en', ['house', 'houses', 'housing']],
    ['de', ['haus', 'häuser', 'hauses']],
    ['fr', ['cheval', 'chevaux']],
    ['es', ['casa', 'casas']],
  ];
  for (const [language, words] of same)
    assert.equal(new Set(words.map(stemmerOf(language))).size, 1, language);
  assert.equal(stemmerOf('en')('running'), 'run');
  assert.equal(stemmerOf('en')('a'.repeat(100_000)), null);
});

test('stop words: each language has a list without duplicates, in lower case', () => {
  for (const language of languages) {
    const words = stopWordsOf(language);
    assert.deepEqual(words, [...new Set(words)], language);
    for (const word of words) assert.match(word, /^[\p{L}]+$/u);
    assert.ok(words.every((word) => word === word.toLowerCase() && word === word.normalize('NFKC')));
  }
});

test('phrases: adjacent words are found, only in their order', () => {
  const finder = new PhraseFinder(['television set', 'set', 'a television set']);
  const next = finder.walk();
  const found = ['a', 'television', 'set', 'television', 'x', 'set'].map((word) =>
    next(word).map(({ term }) => term),
  );
  assert.deepEqual(found, [[], [], ['television set', 'set', 'a television set'], [], [], ['set']]);
  assert.deepEqual(finder.walk()('set').length, 1, 'each string starts a new sequence');
});

test('synonyms: each of a list finds the others; `from` finds those of `to`', () => {
  const list = ['tv', 'Television Set'];
  const table = new SynonymTable(
    [
      { from: list, to: list },
      { from: ['iphone'], to: ['apple phone', 'iphone'] },
    ],
    (text) => cutterOf('').cut(text),
  );
  const of = (...words: string[]) => table.of(words).map((terms) => [...terms]);
  assert.deepEqual(of('tv', 'x', 'iphone'), [['television set'], [], ['apple phone']]);
  assert.deepEqual(of('a', 'television', 'set'), [[], ['tv'], ['tv']]);
  assert.deepEqual(of('set', 'television', 'apple', 'phone'), [[], [], [], []]);
  assert.deepEqual(table.phrases, ['television set', 'apple phone']);
});
