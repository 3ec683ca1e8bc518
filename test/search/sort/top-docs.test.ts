import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { NumberColumn } from '../../../src/search/columns/number-column.ts';
import { ScalarCodes } from '../../../src/search/columns/scalar-codes.ts';
import type { RowPlace } from '../../../src/search/shard-answer.ts';
import type { Ranking } from '../../../src/search/sort/order.ts';
import { TopHeap, topDocs } from '../../../src/search/sort/top-docs.ts';
import { filled } from '../support/columns.ts';

// Equal in their first six bytes, which are all that keys contain.
const text = fc.option(fc.constantFrom('prefix', 'prefix a', 'prefix b', 'other'));
const doc = fc.record({ text, number: fc.option(fc.nat(2)) });

/** By string, then by number descending, then by doc id. */
function rankingOf(
  docs: readonly { readonly text: string | null; readonly number: number | null }[],
): Ranking {
  const texts = filled(
    new ScalarCodes(50, 'text'),
    docs.map((each) => each.text),
  );
  const numbers = filled(
    new NumberColumn(50, 'integer'),
    docs.map((each) => each.number),
  );
  return {
    orders: [texts.order(false), numbers.order(true)],
    compareIds: (a, b) => a - b,
    compareIdsTo: (id, { originId }) => id - Number(originId),
  };
}

function placeOf({ orders }: Ranking, id: number): RowPlace {
  return { values: orders.map((order) => order.value(id)), originId: String(id), sourceId: 's' };
}

test('top docs: consecutive pages are the whole order', () => {
  fc.assert(
    fc.property(
      fc.array(doc, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      (docs, size) => {
        const ranking = rankingOf(docs);
        const list = {
          docs: Int32Array.from(docs.keys()),
          keys: new Float64Array(docs.length),
          count: docs.length,
        };
        const rank = ({ text, number }: (typeof docs)[number]) =>
          [text ?? '~', number === null ? 9 : -number] as const;
        const expected = [...docs.keys()].sort((a, b) => {
          const [first, second] = [
            rank(docs[a] ?? { text: null, number: null }),
            rank(docs[b] ?? { text: null, number: null }),
          ];
          if (first[0] !== second[0]) return first[0] < second[0] ? -1 : 1;
          return first[1] - second[1] || a - b;
        });
        const paged: number[] = [];
        for (let after: RowPlace | null = null; ; ) {
          const page: number[] = [...runSync(topDocs(ranking, list, size, after))];
          paged.push(...page);
          const last = page.at(-1);
          if (last === undefined || page.length < size) break;
          after = placeOf(ranking, last);
        }
        assert.deepEqual(paged, expected);
      },
    ),
  );
});

test('top docs: a field that no doc has, and an empty set of docs, are ordered too', () => {
  const list = { docs: new Int32Array(3), keys: new Float64Array(3), count: 0 };
  assert.equal(runSync(topDocs(rankingOf([]), list, 10, null)).length, 0);
});

test('top heap: the first items in order equal those of a full sort', () => {
  const keys = fc.array(fc.constantFrom(-1, 0, 1, 2, 3, Number.POSITIVE_INFINITY), { maxLength: 40 });
  fc.assert(
    fc.property(keys, fc.nat(45), (offered, capacity) => {
      const heap = new TopHeap(capacity, (a, b) => a - b);
      for (const [item, key] of offered.entries()) if (key <= heap.lastKey) heap.offer(item, key);
      const sorted = offered
        .map((key, item) => ({ key, item }))
        .sort((a, b) => (a.key === b.key ? a.item - b.item : a.key - b.key))
        .map(({ item }) => item);
      assert.deepEqual([...runSync(heap.drain())], sorted.slice(0, capacity));
    }),
  );
});
