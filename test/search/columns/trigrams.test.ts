import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { codeTest } from '../../../src/search/columns/code-test.ts';
import { compilePattern } from '../../../src/search/columns/pattern.ts';
import { ScalarCodes } from '../../../src/search/columns/scalar-codes.ts';
import { ValueDictionary } from '../../../src/search/columns/value-dictionary.ts';
import { runs } from '../../support/runs.ts';
import { acquired, conditionOf, setAt } from '../support/columns.ts';

const runCount = runs(200);

const letters = ['a', 'b', 'B', 'Σ', 'σ', 'ς', 'İ', 'ß', '😀', '\ud83d', '\ude00', ' ', 'x'];
const text = fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 });
const pattern = fc.string({ unit: fc.constantFrom(...letters, '*', '*'), maxLength: 7 });
/** Enough values that patterns use the trigrams. */
const filling = Array.from({ length: 400 }, (_, at) => `filling ${at}`);

type Step =
  | { readonly put: string }
  | { readonly drop: number }
  | { readonly ask: string; readonly fold: boolean };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ put: text }) },
    { weight: 3, arbitrary: fc.record({ drop: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ ask: pattern, fold: fc.boolean() }) },
  ),
  { minLength: 10, maxLength: 60 },
);

test('trigrams: patterns over many values find the same as a linear search, while values are added and removed', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const column = new ScalarCodes(1024, 'text');
      const values = new Map<number, string>();
      for (const [doc, value] of filling.entries()) {
        setAt(column, doc, value);
        values.set(doc, value);
      }
      let next = filling.length;
      for (const step of history) {
        if ('put' in step) {
          setAt(column, next, step.put);
          values.set(next, step.put);
          next += 1;
        } else if ('drop' in step) {
          const doc = [...values.keys()][step.drop % values.size] ?? 0;
          column.clear(doc);
          values.delete(doc);
        } else {
          const found = runSync(column.match(conditionOf('contains', step.ask, step.fold)));
          const matches = compilePattern(step.fold ? step.ask.toLowerCase() : step.ask);
          const expected = [...values]
            .filter(([, value]) => matches(step.fold ? value.toLowerCase() : value))
            .map(([doc]) => doc);
          const tested = [...values.keys()].filter((doc) => found.test(doc));
          assert.deepEqual(tested, expected);
          if (found.few === null) continue;
          const listed = new Int32Array(1024);
          const count = found.few.list(listed);
          assert.equal(count, found.few.count);
          assert.deepEqual(
            [...listed.slice(0, count)].sort((a, b) => a - b),
            expected.sort((a, b) => a - b),
          );
        }
      }
    }),
    { numRuns: runCount },
  );
});

function filled(count: number): ValueDictionary {
  const dictionary = new ValueDictionary();
  for (let at = 0; at < count; at += 1) acquired(dictionary, `Value number ${at}`);
  return dictionary;
}

test('trigrams: a pattern over many values reads few of them', () => {
  const dictionary = filled(5000);
  const before = dictionary.bytes;
  // 123 is in fewer values than 234, and in fifteen.
  const candidates = runSync(dictionary.codesWith(['1234']));
  assert.ok(candidates !== null && candidates.length < 30, `${candidates?.length} candidates`);
  assert.ok(dictionary.bytes > before);
  const found = runSync(codeTest(dictionary, conditionOf('contains', '*NUMBER 123*', true), true));
  assert.ok(found.kind === 'some');
  assert.equal(found.codes?.length, 11);
});

test('trigrams: parts of two characters, frequent parts, and few values use a linear search', () => {
  const dictionary = filled(5000);
  assert.equal(runSync(dictionary.codesWith(['12', ''])), null);
  assert.equal(runSync(dictionary.codesWith(['number'])), null);
  const few = filled(100);
  const { bytes } = few;
  assert.equal(runSync(few.codesWith(['99'])), null);
  assert.equal(few.bytes, bytes);
});

test('trigrams: removed values release their memory', () => {
  const dictionary = filled(1000);
  runSync(dictionary.codesWith(['999']));
  const { bytes } = dictionary;
  for (let round = 0; round < 20; round += 1) {
    const codes = Array.from({ length: 1000 }, (_, at) => acquired(dictionary, `Round ${round} of ${at}`));
    for (const code of codes) dictionary.release(code);
    assert.equal(
      runSync(dictionary.codesWith(['er 999']))?.some((code) => dictionary.isUsed(code)),
      true,
    );
  }
  assert.ok(dictionary.bytes < 4 * bytes, `${dictionary.bytes} of ${bytes}`);
});

test('trigrams: a very long value is found too', () => {
  const dictionary = filled(1000);
  const code = acquired(dictionary, `${'long '.repeat(1000)}needle`);
  assert.deepEqual(runSync(dictionary.codesWith(['needle'])), [code]);
});
