import assert from 'node:assert/strict';
import { test } from 'node:test';
import calculateSlot from 'cluster-key-slot';
import fc from 'fast-check';
import { keys, Partitions } from '../../src/store/keys.ts';
import { runs } from '../support/runs.ts';

test('keys: the slots of all partitions are spread evenly, so that every master of a cluster gets its share', () => {
  for (const count of [1, 2, 3, 7, 16, 64, 1024]) {
    const slots = new Partitions(count).tags.map((tag) => calculateSlot(tag));
    slots.forEach((slot, partition) => {
      assert.equal(Math.floor((slot * count) / 16_384), partition, `${count} partitions`);
    });
  }
});

test('keys: all keys of a partition are in one slot, whatever ids they contain', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (tenant, sourceId, text) => {
      const tag = new Partitions(16).tag(5);
      const made = [
        keys.owner(tag),
        keys.clock(tag),
        keys.stream(tag),
        keys.changes(tag),
        keys.fence(tag),
        keys.pendingRebuilds(tag),
        keys.downstream(tag),
        keys.intents(tag),
        keys.itemIndexes(tag),
        keys.sources(tag),
        keys.removal(tag, text),
        keys.entities(tag, tenant, sourceId),
        keys.names(tag, tenant, sourceId),
        keys.processed(tag, tenant, sourceId),
        keys.views(tag, tenant, 'env', sourceId),
        keys.claims(tag, tenant, text),
        keys.routes(tag, tenant, text),
        keys.leaf(keys.routes(tag, tenant, text), text),
        keys.lengths(tag),
        keys.never(tag),
        keys.clashes(tag, tenant, text),
        keys.items(tag, tenant, 'env', sourceId, text),
        keys.autoIndexed(tag, tenant, sourceId),
        keys.autoFields(tag, tenant, sourceId, text),
        keys.lookup(tag, tenant, sourceId, 'layout', text),
        keys.dependents(tag, tenant, sourceId, text),
      ];
      assert.equal(new Set(made.map((key) => calculateSlot(key))).size, 1);
      assert.equal(new Set(made).size, made.length, 'no two of them are equal');
    }),
    { numRuns: runs(100) },
  );
});

test('keys: the hash of keys never changes, because another one would lose every stored entity', () => {
  const golden: readonly [text: string, of16: number, of64: number, of1024: number][] = [
    ['', 1, 1, 257],
    ['a', 7, 7, 199],
    ['source:1', 12, 12, 588],
    ['source:2', 7, 23, 855],
    ['32eb5a:42', 15, 31, 31],
    ['x:é', 14, 46, 238],
    ['x:\u{1F600}', 12, 12, 332],
    ['acme:env:u:/a/b', 0, 32, 864],
    ['news', 2, 50, 690],
  ];
  for (const [text, of16, of64, of1024] of golden) {
    assert.equal(new Partitions(16).ofText(text), of16, text);
    assert.equal(new Partitions(64).ofText(text), of64, text);
    assert.equal(new Partitions(1024).ofText(text), of1024, text);
  }
  assert.equal(new Partitions(16).ofEntity('source', '1'), 12);
  assert.deepEqual(new Partitions(3).tags, ['{p0.0}', '{p1.0}', '{p2.0}']);
  assert.deepEqual(new Partitions(16).tags.slice(0, 4), ['{p0.41}', '{p1.42}', '{p2.3}', '{p3.0}']);
});

test('keys: entities with numeric ids fill all partitions about evenly', () => {
  const partitions = new Partitions(16);
  const counts = new Array<number>(16).fill(0);
  for (let id = 0; id < 16_000; id += 1) {
    const partition = partitions.ofEntity('32eb5a1c', String(id));
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  assert.ok(Math.min(...counts) > 850 && Math.max(...counts) < 1150, counts.join(' '));
});

test('keys: a partition that does not exist has no tag', () => {
  assert.throws(() => new Partitions(4).tag(4), RangeError);
});
