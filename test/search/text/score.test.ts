import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { costOf, noScore, ScoreOrder, scoreOf, wordWeight } from '../../../src/search/text/score.ts';

const found = fc.record({ words: fc.integer({ min: 1, max: 128 }), edits: fc.nat(256) });

test('more words beat fewer, then fewer edits beat more; the packed score orders alike', () => {
  fc.assert(
    fc.property(found, found, (a, b) => {
      const packed = ({ words, edits }: typeof a): number => words * wordWeight - costOf(edits);
      const expected = Math.sign(a.words - b.words || b.edits - a.edits);
      assert.equal(Math.sign(scoreOf(packed(a)) - scoreOf(packed(b))), expected);
      assert.equal(Math.sign(packed(a) - packed(b)), expected);
    }),
  );
});

test('n words found exactly score n; what was not found scores 0', () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((words) => scoreOf(words * wordWeight)),
    [0, 1, 2, 3],
  );
});

test('without a search all docs have the score 0', () => {
  const order = new ScoreOrder(noScore, true);
  const keys = new Float64Array(2);
  assert.equal(order.keys(new Int32Array(2), 0, 2, keys), 2);
  assert.ok(keys.every((key) => key === 0));
  assert.equal(order.value(1), 0);
});
