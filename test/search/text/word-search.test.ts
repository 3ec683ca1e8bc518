import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { plainAnalyzer } from '../../../src/search/analysis/analyzer.ts';
import type { CheckedSearch } from '../../../src/search/checked-query.ts';
import { Scratch } from '../../../src/search/scratch.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import { FieldText } from '../../../src/search/text/field-text.ts';
import { type SearchedField, WordSearch } from '../../../src/search/text/matching-terms.ts';
import { runSearch } from '../../../src/search/text/word-search.ts';
import { setOf } from '../support/matchers.ts';
import { naiveScorer } from '../support/naive-search.ts';
import { searchIn } from '../support/searches.ts';

const texts = ['red house', 'red hause', 'house house', 'green', 'rad', 'gone house'];
const others: Readonly<Record<number, string>> = { 0: 'green', 4: 'house' };
const live = setOf([0, 1, 2, 3, 4], texts.length);

function fieldText(values: readonly (string | undefined)[]): FieldText {
  const text = new FieldText(plainAnalyzer);
  for (const [doc, value] of values.entries()) if (value !== undefined) runSync(text.add(doc, [value]));
  text.counts.clear(5);
  return text;
}

const f = { text: fieldText(texts), analyzer: plainAnalyzer, weight: 1 };
const g = { text: fieldText(texts.map((_, doc) => others[doc])), analyzer: plainAnalyzer, weight: 1 };
const items = texts.slice(0, 5).map((text, doc): IndexItem => {
  const other = others[doc];
  const fields = other === undefined ? { f: text } : { f: text, g: other };
  return { partition: 0, sourceId: 's', originId: String(doc), updatedAtMs: 1, fields };
});

function scores(search: CheckedSearch, fields: readonly SearchedField[]): Record<string, number> {
  const scratch = new Scratch();
  scratch.reserve(texts.length);
  const { count, touched, touchedCount, scoreOf } = runSync(
    runSearch(new WordSearch(search, fields, { live, count: items.length }), scratch),
  );
  const found = Object.fromEntries(
    Array.from(scratch.hits.subarray(0, count), (doc) => [texts[doc], scoreOf(doc)]),
  );
  scratch.clear(touched, touchedCount);
  assert.ok(
    scratch.search().places.every((place) => place === 0),
    'the scratch is clean for the next query',
  );
  return found;
}

/** Compares a search with one that reads each item. @returns what it found */
function found(
  value: string,
  more: Partial<CheckedSearch> = {},
  fields: readonly SearchedField[] = [f],
): string[] {
  const named = fields.map((field, at) => ({ field: 'fg'[at] ?? '', weight: field.weight }));
  const search = { ...searchIn('f', value, more), fields: named };
  const scored = scores(search, fields);
  const scoreOf = naiveScorer({ ...search, boost: null, operators: null }, items);
  const expected = items.flatMap((item, doc) => {
    const score = scoreOf(item);
    return score === null ? [] : [[texts[doc], score]];
  });
  assert.deepEqual(scored, Object.fromEntries(expected), value);
  return Object.entries(scored)
    .sort(([, a], [, b]) => b - a)
    .map(([text]) => text);
}

const literal = { literal: true };

test('word search: a doc with more of the words is first, then one with more occurrences', () => {
  assert.deepEqual(found('red house'), ['red house', 'house house', 'red hause', 'rad']);
});

test('word search: a literal search matches words exactly', () => {
  assert.deepEqual(found('rad hause', literal).sort(), ['rad', 'red hause']);
  assert.deepEqual(found('!?', literal), []);
});

test('word search: with `all` each word must match; fuzziness replaces the default for the length', () => {
  assert.deepEqual(found('red house', { mode: 'all' }), ['red house', 'red hause']);
  assert.deepEqual(found('red nowhere', { mode: 'all' }), []);
  assert.deepEqual(found('rad', { fuzziness: 0 }), ['rad']);
  assert.deepEqual(found('gorene', { fuzziness: 1 }), []);
  assert.deepEqual(found('gorene', { fuzziness: 2 }), ['green']);
});

test('word search: the last word also matches as a prefix, ranked above typos', () => {
  assert.deepEqual(found('hou', { prefix: true }), ['house house', 'red house', 'red hause']);
  assert.deepEqual(found('hou', { prefix: true, literal: true }), ['house house', 'red house']);
  assert.deepEqual(found('gre red', { prefix: true, literal: true }).sort(), ['red hause', 'red house']);
  assert.deepEqual(found('rad', { prefix: true })[0], 'rad');
});

test('word search: the fields add up by weight; all words may be in different fields', () => {
  const both = [
    { ...f, weight: 2 },
    { ...g, weight: 0.5 },
  ];
  found('green house', literal, both);
  assert.deepEqual(found('green house', { ...literal, mode: 'all' }, both), ['red house']);
  const least = [{ ...f, weight: Number.MIN_VALUE }, g];
  assert.deepEqual(found('rad', literal, least), ['rad']);
});

test('word search: a field that no item has does not change the scores', () => {
  const absent = { text: null, analyzer: plainAnalyzer, weight: 1 };
  const search = {
    ...searchIn('f', 'red house'),
    fields: [
      { field: 'f', weight: 1 },
      { field: 'x', weight: 1 },
    ],
  };
  assert.deepEqual(scores(search, [f, absent]), scores(searchIn('f', 'red house'), [f]));
});
