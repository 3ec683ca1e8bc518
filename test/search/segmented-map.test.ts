import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SegmentedMap } from '../../src/search/segmented-map.ts';

const key = fc.oneof(
  fc.nat(200_000).map(textOf),
  fc.nat(200_000),
  fc.boolean(),
  fc.constantFrom('', 0.5, -1e300),
);
const many = 100_000;

function textOf(number: number): string {
  return `text ${number}`;
}

test('keys are found while they are there, whether they are few or many', () => {
  const filled: SegmentedMap<string | number | boolean, number> = new SegmentedMap();
  const expected = new Map<string | number | boolean, number>();
  const add = (each: string | number | boolean, value: number) => {
    filled.add(each, value);
    expected.set(each, value);
  };
  for (let number = 0; number < many; number += 1) add(number % 2 === 0 ? number : textOf(number), number);
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.boolean()), { maxLength: 200 }), (changes) => {
      for (const [each, isAdded] of changes) {
        if (!isAdded) {
          filled.remove(each);
          expected.delete(each);
        } else if (filled.get(each) === undefined) add(each, expected.size);
        assert.equal(filled.get(each), expected.get(each));
      }
      assert.equal(filled.size, expected.size);
    }),
  );
  for (const [each, value] of expected) assert.equal(filled.get(each), value);
});

test('no Map within it gets large, so none moves many entries at once when it doubles', (context) => {
  const segmented = new SegmentedMap<string, number>();
  const { set } = Map.prototype;
  context.after(() => {
    Map.prototype.set = set;
  });
  let largest = 0;
  Map.prototype.set = function (key, value) {
    set.call(this, key, value);
    largest = Math.max(largest, this.size);
    return this;
  };
  for (let number = 0; number < 600_000; number += 1) segmented.add(`origin-${number}`, number);
  assert.equal(largest, 32_768);
});
