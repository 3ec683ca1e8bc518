import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextArena } from '../../../src/search/shard/text-arena.ts';

test('text arena: strings survive any order of changes, and the arena stays about as large as they are', () => {
  const arena = new TextArena(1000);
  const texts = new Map<number, string>();
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  for (let round = 0; round < 30_000; round += 1) {
    const doc = random(1000);
    arena.clear(doc);
    texts.delete(doc);
    if (random(5) === 0) continue;
    const text = `${round}é😀`.repeat(random(500) === 0 ? 200_000 : random(300));
    arena.set(doc, text);
    texts.set(doc, text);
    if (random(50) === 0 && text.length > 1_000_000) arena.clear(doc);
    if (arena.get(doc) === '') texts.delete(doc);
  }
  let live = 0;
  for (const [doc, text] of texts) {
    assert.equal(arena.get(doc), text);
    live += Buffer.byteLength(text);
  }
  assert.ok(arena.bytes < 3 * live + 3 * 1024 * 1024, `${arena.bytes} bytes for ${live}`);
  for (const doc of texts.keys()) arena.clear(doc);
  assert.ok(arena.bytes < 3 * 1024 * 1024);
});
