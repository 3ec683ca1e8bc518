import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScoreOrder } from '../../../src/search/shard/ranking.ts';
import { noScore } from '../../../src/search/text/relevance.ts';

test('ranking: without a search all docs have the score 0', () => {
  const order = new ScoreOrder(noScore, true);
  const keys = new Float64Array(2);
  assert.equal(order.keys(new Int32Array(2), 0, 2, keys), 2);
  assert.ok(keys.every((key) => key === 0));
  assert.equal(order.value(1), 0);
});
