import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { listOf, setOf } from './support/matchers.ts';

const ids = fc.uniqueArray(fc.nat(99));
const all = Array.from({ length: 100 }, (_, id) => id);

test('bitmap: a bitmap is a set of numbers', () => {
  fc.assert(
    fc.property(ids, ids, fc.nat(99), fc.nat(100), (a, b, removed, limit) => {
      const joined = (join: 'intersect' | 'unite' | 'complement'): number[] => {
        const set = setOf(a, 100);
        set[join](setOf(b, 100));
        return listOf(set, 100);
      };
      assert.deepEqual(
        joined('intersect'),
        all.filter((id) => a.includes(id) && b.includes(id)),
      );
      assert.deepEqual(
        joined('unite'),
        all.filter((id) => a.includes(id) || b.includes(id)),
      );
      assert.deepEqual(
        joined('complement'),
        all.filter((id) => b.includes(id) && !a.includes(id)),
      );
      const set = setOf(a, 100);
      assert.ok(set.countUpTo(limit) >= Math.min(limit, a.length));
      assert.equal(set.countUpTo(1000), a.length);
      set.grow(200);
      set.remove(removed);
      assert.deepEqual(
        listOf(set, 200),
        all.filter((id) => a.includes(id) && id !== removed),
      );
    }),
  );
});
