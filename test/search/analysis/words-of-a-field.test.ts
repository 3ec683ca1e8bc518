import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Folding, type Language, languages } from '../../../src/schemas/definition/index-texts.ts';
import { Analyzer, foldAccents } from '../../../src/search/analysis/analyzer.ts';
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

test('stems: words have the same stem in a field that folds accents as in one that does not', () => {
  const same: [Language, Folding, string][] = [
    ['de', false, 'haus häuser häusern'],
    ['de', true, 'haus häuser häusern'],
    ['de', 'de', 'haus häuser haeuser häusern'],
    ['de', 'de', 'garten gärten gaerten'],
    ['de', 'de', 'schön schöner schoene'],
    ['de', 'de', 'buch bücher buecher'],
    ['es', true, 'educación educacion educaciones'],
    ['pt', true, 'informação informacao informações'],
    ['fr', true, 'chanté chantée chantees chanter'],
    ['fr', true, 'premier première premieres'],
  ];
  for (const [language, folding, words] of same) {
    const analyzer = new Analyzer({ language, foldAccents: folding });
    const stems = words.split(' ').map((word) => analyzer.stem?.(analyzer.word(word)));
    assert.equal(new Set(stems).size, 1, `${language} ${folding}: ${stems}`);
  }
  const written = new Analyzer({ language: 'de', foldAccents: 'de' });
  const plain = new Analyzer({ language: 'de', foldAccents: false });
  for (const word of ['quelle', 'neue', 'bauen', 'frauen', 'treue']) {
    assert.equal(written.stem?.(word), plain.stem?.(word), word);
  }
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
