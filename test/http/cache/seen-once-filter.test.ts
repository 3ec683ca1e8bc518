import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeenOnceFilter } from '../../../src/http/cache/seen-once-filter.ts';

test('a text counts as asked before from its second asking, until very many others have been asked', () => {
  const asked = new SeenOnceFilter();
  assert.deepEqual([asked.note('a'), asked.note('a'), asked.note('b')], [false, true, false]);
  for (let at = 0; at < 1_000_000; at += 1) asked.note(`other ${at}`);
  assert.equal(asked.note('a'), false);
});
