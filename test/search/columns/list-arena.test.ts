import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { ListArena } from '../../../src/search/columns/list-arena.ts';

function put(arena: ListArena<Int32Array> | ListArena<Float64Array>, doc: number, list: readonly number[]) {
  const growing = arena.reserve(list.length);
  if (growing !== null) runSync(growing);
  arena.set(doc, list);
}

const change = fc.tuple(fc.nat(7), fc.option(fc.array(fc.integer({ min: 0, max: 99 }), { maxLength: 20 })));

test('list arena: lists keep their items, whatever is added and removed around them', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const arena = new ListArena(8, (length) => new Int32Array(length));
      const lists = new Map<number, readonly number[]>();
      for (const [doc, list] of changes) {
        arena.clear(doc);
        lists.delete(doc);
        if (list === null) continue;
        put(arena, doc, list);
        lists.set(doc, list);
      }
      for (let doc = 0; doc < 8; doc += 1) {
        const start = arena.starts[doc] ?? 0;
        const kept = arena.items.subarray(start, start + (arena.counts[doc] ?? 0));
        assert.deepEqual([...kept], lists.get(doc) ?? []);
      }
    }),
  );
});

test('list arena: free space never exceeds the lists for long', () => {
  const arena = new ListArena(4, (length) => new Float64Array(length));
  for (let round = 0; round < 10_000; round += 1) {
    arena.clear(round % 4);
    put(arena, round % 4, [1, 2, 3, 4, 5]);
  }
  assert.ok(arena.bytes < 1024, `${arena.bytes} bytes for 20 numbers`);
});
