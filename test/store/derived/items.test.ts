import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { forgetNames, nameListFor } from '../../../src/store/codec/name-lists.ts';
import { encodeItem, type StoredItem } from '../../../src/store/derived/item-record.ts';
import {
  decodeItems,
  itemIndexField,
  listItemIndexes,
  readItems,
  scanItems,
} from '../../../src/store/derived/items.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { indexName, keys } from '../../../src/store/keys.ts';
import { sourceField } from '../../../src/store/scopes.ts';
import type { Store } from '../../../src/store/store.ts';
import { beforeCommand } from '../../support/before-command.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const scope = { tenant: 'acme', environmentId: 'env-1' };

async function putItems(store: Store, index: string, items: readonly StoredItem[]): Promise<void> {
  const tag = store.partitions.tag(0);
  for (const item of items) {
    const { sourceId, originId } = item;
    const key = keys.items(tag, scope.tenant, scope.environmentId, sourceId, index);
    await store.client.hset(key, originId, encodeItem(item));
    await store.client.hset(keys.sources(tag), sourceField({ tenant: scope.tenant, sourceId }), '1');
  }
  await store.client.hset(keys.itemIndexes(tag), itemIndexField({ scope, index }), '1');
}

async function scanAll(store: Store, index: string): Promise<StoredItem[]> {
  const found = new Map<string, StoredItem>();
  for await (const portion of scanItems(store, 0, scope, index)) {
    for (const item of await decodeItems(portion)) found.set(`${item.sourceId}:${item.originId}`, item);
  }
  return [...found.values()].sort((a, b) => (a.originId < b.originId ? -1 : 1));
}

test('items: a scan returns items that omit their names, each with the names of its own list', async () => {
  const store = await redis.openEmptyStore(1);
  const tag = store.partitions.tag(0);
  const index = indexName.schema('listed');
  const lists = [
    ['title', 'size'],
    ['size', 'title', 'more'],
  ].map(nameListFor);
  const items = Array.from({ length: 20 }, (_, number) => {
    const fields = number % 2 === 0 ? { title: `t${number}`, size: number } : { size: number, more: 'x' };
    return { sourceId: 'source', originId: `e${10 + number}`, updatedAtMs: number, fields };
  });
  await putItems(store, index, []);
  await store.client.hset(keys.sources(tag), sourceField({ tenant: scope.tenant, sourceId: 'source' }), '1');
  for (const { digest, text } of lists) {
    await store.client.hset(keys.names(tag, scope.tenant, 'source'), digest, text);
  }
  for (const [at, item] of items.entries()) {
    const key = keys.items(tag, scope.tenant, scope.environmentId, 'source', index);
    await store.client.hset(key, item.originId, encodeItem(item, lists[at % 2]));
  }
  assert.deepEqual(await scanAll(store, index), items);
  const asked = ['e11', 'gone', 'e10'];
  assert.deepEqual(await readItems(store, 0, { scope, index }, 'source', asked), [items[1], null, items[0]]);
});

test('items: items that are purged between the reads of their records and of their names count as deleted', async () => {
  const store = await redis.openEmptyStore(1);
  const reader = await redis.openStore(1);
  const tag = store.partitions.tag(0);
  const index = indexName.schema('purged');
  const key = keys.items(tag, scope.tenant, scope.environmentId, 'source', index);
  const place = { tag, tenant: scope.tenant, sourceId: 'source' };
  const list = nameListFor(['a name that nobody has read yet']);
  const fields = { 'a name that nobody has read yet': 1 };
  const named = { sourceId: 'source', originId: 'named', updatedAtMs: 1, fields: {} };
  const reads: readonly ((what: Store) => Promise<unknown>)[] = [
    async (what) => assert.deepEqual(await scanAll(what, index), [named]),
    async (what) =>
      assert.deepEqual(await readItems(what, 0, { scope, index }, 'source', ['e', 'none', 'named']), [
        null,
        null,
        named,
      ]),
  ];
  for (const read of reads) {
    await putItems(store, index, [named]);
    await store.client.hset(key, 'e', encodeItem({ updatedAtMs: 1, fields }, list));
    await store.client.hset(keys.names(tag, scope.tenant, 'source'), list.digest, list.text);
    beforeCommand(reader, keys.names(tag, scope.tenant, 'source'), async () => {
      await store.client.del(key);
      await forgetNames(store, place);
    });
    await read(reader);
  }
});

test('items: a complete scan returns every item once, small and large ones, in bounded portions', async () => {
  const store = await redis.openEmptyStore(1);
  const items = Array.from({ length: 700 }, (_, number) => ({
    sourceId: 'source',
    originId: `item-${String(number).padStart(4, '0')}`,
    updatedAtMs: number,
    fields: { text: 'x'.repeat(number % 50 === 0 ? 200_000 : 100) },
  }));
  await putItems(store, 'schema:pages', items);
  assert.deepEqual(await scanAll(store, 'schema:pages'), items);
  let largestBytes = 0;
  for await (const portion of scanItems(store, 0, scope, 'schema:pages')) {
    const bytes = portion.reduce((sum, { stored }) => sum + stored.length, 0);
    largestBytes = Math.max(largestBytes, bytes);
  }
  assert.ok(largestBytes < 8 * 1024 * 1024, `${largestBytes}`);
});

test('items: an index of a partition is listed with its scope, even with bars in its name', async () => {
  const store = await redis.openEmptyStore(1);
  const name = indexName.auto('cms', 'odd|type:x');
  await putItems(store, name, []);
  assert.deepEqual(await listItemIndexes(store, 0), [{ scope, index: name }]);
  assert.deepEqual(await scanAll(store, name), []);
});

test('items: the first type of a field applies to every process', async () => {
  const store = await redis.openEmptyStore(4);
  const [first, second] = [new AutoFields(store), new AutoFields(await redis.openStore(4))];
  const candidates = (entries: [string, FieldType][]) => new Map(entries);
  const decided = await Promise.all([
    first.decide('acme', 's', 'page', candidates([['title', 'keywordText']])),
    second.decide('acme', 's', 'page', candidates([['title', 'double']])),
  ]);
  assert.ok(decided[0]?.has('title'));
  assert.equal(decided[0]?.get('title'), decided[1]?.get('title'));
  await second.decide('acme', 's', 'page', candidates([['size', 'double']]));
  const later = await first.decide('acme', 's', 'page', candidates([['size', 'boolean']]));
  assert.equal(later?.get('size'), 'double');
});

test('items: an entity type is known after its first entity, with or without fields, and only in its tenant and source', async () => {
  const store = await redis.openEmptyStore(4);
  const worker = new AutoFields(store);
  const front = new AutoFields(store);
  assert.equal(await front.read('acme', 's', 'page'), null);
  await worker.decide('acme', 's', 'page', new Map());
  assert.deepEqual(await front.read('acme', 's', 'page'), new Map());
  assert.equal(await front.read('other', 's', 'page'), null);
  assert.equal(await front.read('acme', 't', 'page'), null);
});

test('items: a front sees fields that a worker decided after the front had read them', async () => {
  const store = await redis.openEmptyStore(4);
  const worker = new AutoFields(store);
  const front = new AutoFields(store);
  await worker.decide('acme', 's', 'page', new Map([['title', 'keywordText']]));
  assert.deepEqual(await front.read('acme', 's', 'page'), new Map([['title', 'keywordText']]));
  await worker.decide('acme', 's', 'page', new Map([['__proto__', 'object']]));
  assert.equal((await front.read('acme', 's', 'page'))?.get('__proto__'), 'object');
  assert.equal(front.known('acme', 's', 'page')?.size, 2);
});

test('items: deciding the type of a field again sends nothing to Redis', async () => {
  const store = await redis.openEmptyStore(1);
  const worker = new AutoFields(store);
  const candidates = new Map<string, FieldType>([['title', 'keywordText']]);
  await worker.decide('acme', 's', 'page', candidates);
  await worker.decide('acme', 's', 'page', new Map());
  await store.close();
  assert.deepEqual(await worker.decide('acme', 's', 'page', candidates), candidates);
});
