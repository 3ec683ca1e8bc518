import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { TextIndex } from '../../../src/search/text/text-index.ts';
import { docsAt } from '../support/docs-at.ts';
import { setOf } from '../support/matchers.ts';
import { naiveDistance } from '../support/naive-search.ts';

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 });
const texts = fc.array(fc.uniqueArray(word, { maxLength: 5 }), { maxLength: 20 });

test('text index: terms near a word are returned with their docs, the nearest first, without swept docs', () => {
  fc.assert(
    fc.property(texts, word, fc.nat(2), fc.nat(), (docs, asked, bound, seed) => {
      const index = new TextIndex();
      for (const [doc, words] of docs.entries()) for (const each of words) index.add(doc, each);
      const dead = [...docs.keys()].filter((doc) => (seed >>> doc) & 1);
      while (!index.sweep(setOf(dead, 32), 3));
      const expected = new Map<string, { distance: number; docs: number[] }>();
      for (const [doc, words] of docs.entries()) {
        if (dead.includes(doc)) continue;
        for (const each of words) {
          const distance = naiveDistance(asked, each);
          if (distance > bound) continue;
          const known = expected.get(each) ?? { distance, docs: [] };
          expected.set(each, { distance, docs: [...known.docs, doc] });
        }
      }
      const near = runSync(index.terms.within(asked, bound)).flatMap((termIds, distance) =>
        termIds.map((termId) => ({ distance, docs: docsAt(index.postings, termId) })),
      );
      const texted = (terms: Iterable<{ distance: number; docs: readonly number[] }>): string[] =>
        [...terms]
          .map(({ distance, docs: listed }) => `${distance}: ${[...listed].sort((a, b) => a - b)}`)
          .sort();
      assert.deepEqual(texted(near), texted(expected.values()));
    }),
  );
});

test('text index: an index with only swept docs is empty', () => {
  const index = new TextIndex();
  for (const each of ['a', 'b', 'b']) index.add(1, each);
  assert.equal(index.postingCount, 2);
  while (!index.sweep(setOf([1], 2), 1));
  assert.equal(index.termCount, 0);
  assert.equal(index.postingCount, 0);
});
