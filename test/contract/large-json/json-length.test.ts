import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { isLongerThan } from '../../../src/contract/large-json/stringify-in-parts.ts';

test('JSON length: a value is too long exactly if its JSON text is', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ß', '😀', ' ') });
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      text,
      fc.constantFrom<Json>(null, true, false, 0, -0, -1.5e300),
      fc.array(tie('value')),
      fc.dictionary(text, tie('value')),
    ),
  }));
  fc.assert(
    fc.property(value, (each) => {
      const { length } = JSON.stringify(each);
      assert.equal(isLongerThan(each, length), false);
      assert.equal(isLongerThan(each, length - 1), true);
    }),
  );
});

test('JSON length: counting stops at the limit', () => {
  let looked = 0;
  const items = new Proxy<Json[]>(
    Array.from({ length: 1_000_000 }, () => 1),
    {
      get(target, name, receiver) {
        looked += 1;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  assert.equal(isLongerThan(items, 100), true);
  assert.ok(looked < 500);
});
