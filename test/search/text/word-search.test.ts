import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce } from '../../../src/search/pace.ts';
import { Scratch } from '../../../src/search/shard/scratch.ts';
import { scoreOf } from '../../../src/search/text/score.ts';
import { TextIndex } from '../../../src/search/text/text-index.ts';
import { runSearch } from '../../../src/search/text/word-search.ts';
import { wordsOf } from '../../../src/search/text/words.ts';
import { setOf } from '../support/matchers.ts';

const texts = ['red house', 'red hause', 'house house', 'green', 'rad', 'gone house'];
const index = new TextIndex();
for (const [doc, text] of texts.entries()) index.add(doc, wordsOf(text));
const live = setOf([0, 1, 2, 3, 4], texts.length);

function scores(value: string, literal = false): Record<string, number> {
  const scratch = new Scratch();
  scratch.reserve(texts.length);
  const found = atOnce(runSearch(index, { value, literal }, live, scratch));
  const docs = scratch.hits.slice(0, found);
  const scored = Object.fromEntries(
    [...docs].map((doc) => [texts[doc] ?? '', scoreOf(scratch.scores[doc] ?? 0)]),
  );
  scratch.clearScores(docs, found);
  assert.ok(
    scratch.scores.every((score) => score === 0),
    'the scratch is clean for the next query',
  );
  return scored;
}

test('each word of the search counts once, by its nearest word in the doc', () => {
  assert.deepEqual(scores('red house'), { 'red house': 2, 'red hause': 1.5, 'house house': 1, rad: 0.5 });
});

test('a literal search takes words as they are', () => {
  assert.deepEqual(scores('rad hause', true), { 'red hause': 1, rad: 1 });
  assert.deepEqual(scores('!?', true), {});
});
