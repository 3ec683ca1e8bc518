import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { portions } from '../../src/lib/lists.ts';

test('portions: they contain everything in order, and none is empty or too large', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 8 }), (list, size) => {
      const cut = [...portions(list, size)];
      assert.deepEqual(cut.flat(), list);
      for (const portion of cut.slice(0, -1)) assert.equal(portion.length, size);
      for (const portion of cut) assert.ok(portion.length > 0 && portion.length <= size);
    }),
  );
});
