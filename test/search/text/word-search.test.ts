import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce } from '../../../src/lib/pace.ts';
import { plainAnalyzer } from '../../../src/search/analysis/analyzer.ts';
import type { CheckedSearch } from '../../../src/search/checked-query.ts';
import { Scratch } from '../../../src/search/shard/scratch.ts';
import { FieldText } from '../../../src/search/text/field-text.ts';
import { runSearch } from '../../../src/search/text/word-search.ts';
import { setOf } from '../support/matchers.ts';
import { searchIn } from '../support/searches.ts';

const texts = ['red house', 'red hause', 'house house', 'green', 'rad', 'gone house'];
const text = new FieldText(plainAnalyzer);
for (const [doc, value] of texts.entries()) atOnce(text.add(doc, [value]));
const plain = [{ text, weight: 1 }];
const live = setOf([0, 1, 2, 3, 4], texts.length);

function scores(value: string, more: Partial<CheckedSearch> = {}, fields = plain): Record<string, number> {
  const scratch = new Scratch();
  scratch.reserve(texts.length);
  const { count, touched, touchedCount, scoreOf } = atOnce(
    runSearch(searchIn('f', value, more), fields, live, scratch),
  );
  const docs = [...scratch.hits.slice(0, count)];
  const scored = Object.fromEntries(docs.map((doc) => [texts[doc] ?? '', scoreOf(doc)]));
  scratch.clear(touched, touchedCount);
  for (const buffer of [scratch.scores, scratch.stamps, scratch.sums().totals]) {
    assert.ok(
      buffer.every((value) => value === 0),
      'the scratch is clean for the next query',
    );
  }
  return scored;
}

test('each word of the search counts once, by its nearest word in the doc', () => {
  assert.deepEqual(scores('red house'), { 'red house': 2, 'red hause': 1.5, 'house house': 1, rad: 0.5 });
});

test('a literal search takes words as they are', () => {
  assert.deepEqual(scores('rad hause', { literal: true }), { 'red hause': 1, rad: 1 });
  assert.deepEqual(scores('!?', { literal: true }), {});
});

test('of all words each must match; fuzziness takes the place of what the length allows', () => {
  assert.deepEqual(scores('red house', { mode: 'all' }), { 'red house': 2, 'red hause': 1.5 });
  assert.deepEqual(scores('red nowhere', { mode: 'all' }), {});
  assert.deepEqual(scores('rad', { fuzziness: 0 }), { rad: 1 });
  assert.deepEqual(scores('gorene', { fuzziness: 1 }), {});
  assert.deepEqual(scores('gorene', { fuzziness: 2 }), { green: 1 / 3 });
});

test('the last word also matches what begins with it, behind all whole words', () => {
  assert.deepEqual(scores('hou', { prefix: true }), {
    'red house': 1 / 4,
    'house house': 1 / 4,
    'red hause': 1 / 5,
  });
  assert.deepEqual(scores('hou', { prefix: true, literal: true }), {
    'red house': 1 / 4,
    'house house': 1 / 4,
  });
  assert.deepEqual(scores('gre red', { prefix: true, literal: true }), { 'red house': 1, 'red hause': 1 });
  assert.deepEqual(scores('rad', { prefix: true }), { rad: 1, 'red house': 1 / 2, 'red hause': 1 / 2 });
});

test('scores of several fields are added up, times their weights; all words may lie in different fields', () => {
  const other = new FieldText(plainAnalyzer);
  atOnce(other.add(0, ['green']));
  atOnce(other.add(4, ['house']));
  const fields = [
    { text, weight: 2 },
    { text: other, weight: 0.5 },
  ];
  const literal = { literal: true };
  assert.deepEqual(scores('green house', literal, fields), {
    'red house': 2.5,
    'house house': 2,
    green: 2,
    rad: 0.5,
  });
  assert.deepEqual(scores('green house', { ...literal, mode: 'all' }, fields), { 'red house': 2.5 });
  const least = [{ text, weight: Number.MIN_VALUE }, ...fields];
  assert.deepEqual(Object.keys(scores('rad', literal, least)), ['rad']);
});
