import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { DocTable, type IndexItem } from '../../../src/search/shard/doc-table.ts';

function itemOf(sourceId: string, originId: string): IndexItem {
  return { partition: 3, sourceId, originId, updatedAtMs: 5, fields: {} };
}

const id = fc.constantFrom('1', '2', '3');
const change = fc.record({ sourceId: id, originId: id, isAdded: fc.boolean() });

test('doc table: an item is found by its ids while it exists, with the values it was added with', () => {
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const table = new DocTable();
      const texts = new Map<string, string>();
      for (const [at, { sourceId, originId, isAdded }] of changes.entries()) {
        const before = table.find(sourceId, originId);
        assert.equal(before >= 0, texts.has(`${sourceId} ${originId}`));
        if (before >= 0) {
          table.retire(before);
          table.free(before);
        }
        texts.delete(`${sourceId} ${originId}`);
        if (!isAdded) continue;
        const doc = table.add(itemOf(sourceId, originId), `{"at":${at}}`);
        assert.deepEqual(
          [table.sourceIdOf(doc), table.originIdOf(doc), table.partitionOf(doc)],
          [sourceId, originId, 3],
        );
        texts.set(`${sourceId} ${originId}`, `{"at":${at}}`);
      }
      assert.equal(table.size, texts.size);
      assert.ok(table.docCount <= 9, 'ids are reused');
      const kept = [...table.all()].map((doc) => table.textOf(doc));
      assert.deepEqual(kept.sort(), [...texts.values()].sort());
    }),
  );
});

test('doc table: a doc in an inverted index is marked, and not reused before it is freed', () => {
  const table = new DocTable();
  const doc = table.add(itemOf('s', '1'), '{}');
  table.markIndexed(doc);
  assert.equal(table.retire(doc), true);
  assert.notEqual(table.add(itemOf('s', '2'), '{}'), doc);
  table.free(doc);
  assert.equal(table.add(itemOf('s', '3'), '{}'), doc);
  assert.equal(table.retire(doc), false);
});

test('doc table: retiring a doc twice is a bug', () => {
  const table = new DocTable();
  const doc = table.add(itemOf('s', '1'), '{}');
  table.retire(doc);
  assert.throws(() => table.retire(doc), /live/);
});

test('doc table: the table grows with its items', () => {
  const table = new DocTable();
  for (let at = 0; at < 3000; at += 1) {
    const growing = table.reserve();
    if (growing !== null) runSync(growing);
    table.add(itemOf('s', String(at)), `{"at":${at}}`);
  }
  assert.equal(table.textOf(table.find('s', '2999')), '{"at":2999}');
  assert.ok(table.capacity >= 3000 && table.compareIds(table.find('s', '10'), table.find('s', '9')) < 0);
});
