import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { inValues, ValueSet } from '../../../src/schemas/filter/evaluate.ts';
import { runs } from '../../support/runs.ts';

test('value set: the values of `in` are its operands, or the items of its single hole', () => {
  assert.deepEqual(inValues(['a', ['b', 'c']], [0, 1], false), ['a', ['b', 'c']]);
  assert.deepEqual(inValues(['a', ['b', 'c']], [1], true), ['b', 'c']);
  assert.deepEqual(inValues(['a'], [0], true), ['a']);
  assert.deepEqual(inValues([null], [0], true), [null]);
});

test('value set: a set contains the values that equal a member by type and content', () => {
  const scalar = fc.constantFrom<Json>(null, 0, 9, '9', '', true, 'true');
  const value = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 2 }),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b'), scalar), { maxLength: 2 })
      .map((m): Json => Object.fromEntries(m)),
  );
  fc.assert(
    fc.property(fc.array(value, { maxLength: 6 }), value, (values, asked) => {
      const naive = values.some((one) => isDeepStrictEqual(one, asked));
      assert.equal(new ValueSet(values).has(asked), naive);
    }),
    { numRuns: runs(500) },
  );
});
