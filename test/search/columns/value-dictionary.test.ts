import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareValues, ValueDictionary } from '../../../src/search/columns/value-dictionary.ts';
import type { PlainValue } from '../../../src/search/packed-values.ts';

const value = fc.constantFrom<PlainValue>(
  '',
  'a',
  'aaaaaaa',
  'aaaaaab',
  '😀',
  '\uffff',
  0,
  1,
  -5,
  true,
  false,
);

test('value dictionary: a value has one code while it is in use, and codes are reused', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(value, fc.boolean()), { maxLength: 100 }), (changes) => {
      const dictionary = new ValueDictionary();
      const uses = new Map<PlainValue, number>();
      for (const [each, isAcquired] of changes) {
        const before = uses.get(each) ?? 0;
        if (!isAcquired && before === 0) continue;
        if (isAcquired) dictionary.acquire(each);
        else dictionary.release(dictionary.codeOf(each));
        uses.set(each, before + (isAcquired ? 1 : -1));
      }
      for (const [each, count] of uses) {
        assert.equal(dictionary.usesOf(dictionary.codeOf(each)), count);
        const code = dictionary.codeOf(each);
        assert.equal(code < 0 ? null : dictionary.valueOf(code), count === 0 ? null : each);
      }
      assert.ok(dictionary.codeCount <= 11);
    }),
  );
});

test('value dictionary: codes are in the order of their values, and keys never contradict it', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const dictionary = new ValueDictionary();
      const [codeA, codeB] = [dictionary.acquire(a), dictionary.acquire(b)];
      const expected = Math.sign(compareValues(a, b));
      assert.equal(Math.sign(dictionary.compare(codeA, codeB)), expected);
      const byKey = Math.sign(dictionary.keyOf(codeA) - dictionary.keyOf(codeB));
      assert.ok(byKey === 0 || byKey === expected);
    }),
  );
});

test('value dictionary: numbers sort before strings, and strings before booleans', () => {
  const values: PlainValue[] = [true, 'a', 10, false, '😀', 9, '\uffff'];
  assert.deepEqual(values.sort(compareValues), [9, 10, 'a', '\uffff', '😀', false, true]);
});

test('value dictionary: using or releasing an unused code is a bug', () => {
  const dictionary = new ValueDictionary();
  const code = dictionary.acquire('a');
  dictionary.release(code);
  assert.throws(() => dictionary.valueOf(code));
  assert.throws(() => dictionary.release(code));
});
