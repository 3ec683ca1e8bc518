import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { WordCounts } from '../../../src/search/text/field-text.ts';
import { restoredFrom } from '../support/parts.ts';

const step = fc.record({
  doc: fc.nat(60),
  words: fc.oneof(fc.nat(3), fc.nat(300), fc.nat(100_000)),
});

test('word counts: have the counts and sums of current docs, also after a snapshot', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const counts = new WordCounts();
      const expected = new Map<number, number>();
      for (const { doc, words } of steps) {
        counts.clear(doc);
        counts.set(doc, words);
        expected.delete(doc);
        if (words > 0) expected.set(doc, words);
      }
      const again = await restoredFrom(counts, new WordCounts());
      for (const one of [counts, again]) {
        assert.equal(one.docs, expected.size);
        assert.equal(
          one.words,
          [...expected.values()].reduce((sum, words) => sum + words, 0),
        );
        for (const [doc, words] of expected) assert.equal(one.byDoc[doc], words);
      }
    }),
  );
});

test('word counts: take one byte per doc while no text is long', () => {
  const counts = new WordCounts();
  for (let doc = 0; doc < 1024; doc += 1) counts.set(doc, 255);
  assert.equal(counts.bytes, 1024);
});
