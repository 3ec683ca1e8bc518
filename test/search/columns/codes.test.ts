/** Dictionary-encoded columns, with one value per doc or a list of values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { workBudget } from '../../../src/lib/cooperative-yield.ts';
import { CodeTally } from '../../../src/search/columns/code-tally.ts';
import { ListCodes } from '../../../src/search/columns/list-codes.ts';
import { ScalarCodes } from '../../../src/search/columns/scalar-codes.ts';
import { clearAt, conditionOf, countsOf, filled, inOrder, matching, setAt } from '../support/columns.ts';

const word = fc.constantFrom('a', 'A', 'b', 'Ab', '😀', '\uffff', '');
const words = fc.array(fc.option(word), { maxLength: 30 });
const lists = fc.array(fc.option(fc.array(word, { maxLength: 4 })), { maxLength: 30 });
const asked = fc.array(word, { maxLength: 3 });

function docsWhere(values: readonly Json[], holds: (value: Json) => boolean): number[] {
  return values.flatMap((value, doc) => (value !== null && holds(value) ? [doc] : []));
}

test('scalar codes: `in` finds docs by value, case-sensitive or not', () => {
  fc.assert(
    fc.property(words, asked, fc.boolean(), (values, wanted, fold) => {
      const column = filled(new ScalarCodes(30, 'text'), values);
      const folded = (text: Json): string => (fold ? String(text).toLowerCase() : String(text));
      const set = new Set(wanted.map(folded));
      assert.deepEqual(
        matching(column, conditionOf('in', wanted, fold), values.length),
        docsWhere(values, (value) => set.has(folded(value))),
      );
    }),
  );
});

test('list codes: a condition matches any item, and a tally counts equal items of a doc once', () => {
  fc.assert(
    fc.property(lists, asked, (values, wanted) => {
      const column = filled(new ListCodes(30, 'text'), values);
      assert.deepEqual(
        matching(column, conditionOf('in', wanted), values.length),
        docsWhere(values, (items) => wanted.some((one) => (items as string[]).includes(one))),
      );
      const counts = new Map<Json, number>();
      for (const item of values.flatMap((items) => [...new Set(items ?? [])]))
        counts.set(item, (counts.get(item) ?? 0) + 1);
      const docs = values.map((_, doc) => doc);
      assert.deepEqual(
        new Map([...countsOf(column, docs, new CodeTally())].sort()),
        new Map([...counts].sort()),
      );
    }),
  );
});

test('list codes: a tally makes progress even when the work budget is used up', () => {
  const column = filled(new ListCodes(2, 'text'), [['a'], ['a', 'b']]);
  const tally = new CodeTally();
  tally.reserve(column.dictionary.codeCount);
  workBudget.units = workBudget.unitsPerClockCheck;
  const reached = column.tally(Int32Array.of(0, 1), 0, 2, tally);
  workBudget.units = 0;
  assert.equal(reached, 1);
});

test('codes: strings sort by code point, lists by their first or last item', () => {
  const column = filled(new ScalarCodes(4, 'text'), ['😀', null, '\uffff', 'a']);
  assert.deepEqual(inOrder(column, false, 4), [3, 2, 0, 1]);
  assert.deepEqual(inOrder(column, true, 4), [0, 2, 3, 1]);
  const list = filled(new ListCodes(3, 'text'), [['a', '😀'], ['b'], []]);
  assert.deepEqual(inOrder(list, false, 3), [0, 1, 2]);
  assert.deepEqual(inOrder(list, true, 3), [0, 1, 2]);
});

test('scalar codes: finds the docs of a value after any changes', () => {
  const change = fc.tuple(fc.nat(9), fc.option(word));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), word, (changes, wanted) => {
      const column = new ScalarCodes(10, 'text');
      const values: Json[] = Array.from({ length: 10 }, () => null);
      for (const [doc, value] of changes) {
        clearAt(column, doc);
        if (value !== null) setAt(column, doc, value);
        values[doc] = value;
      }
      assert.deepEqual(
        matching(column, conditionOf('equals', wanted), 10),
        docsWhere(values, (value) => value === wanted),
      );
      const linked: number[] = [];
      for (let doc = column.firstWith(wanted); doc >= 0; doc = column.nextWithSame(doc)) linked.push(doc);
      assert.deepEqual(
        linked.sort(),
        docsWhere(values, (value) => value === wanted),
      );
    }),
  );
});

test('codes: ignores values of another type', () => {
  const texts = filled(new ScalarCodes(2, 'text'), [5, true]);
  assert.equal(texts.dictionary.codeCount, 0);
  const plain = filled(new ListCodes(1, 'plain'), [[5, '5', true, null, {}]]);
  assert.equal(plain.dictionary.codeCount, 3);
});

test('list codes: clearing a list releases its codes', () => {
  const column = filled(new ListCodes(2, 'text'), [['a', 'b'], ['b']]);
  clearAt(column, 0);
  assert.equal(column.dictionary.usesOf(column.dictionary.codeOf('a')), 0);
  assert.equal(column.dictionary.usesOf(column.dictionary.codeOf('b')), 1);
  assert.deepEqual(matching(column, conditionOf('contains', '*'), 2), [1]);
});
