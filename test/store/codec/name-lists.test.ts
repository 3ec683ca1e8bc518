import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { InvariantError } from '../../../src/lib/assert.ts';
import { findNames, forgetNames, knownNames, type NameList } from '../../../src/store/codec/name-lists.ts';
import { acceptEntities } from '../../../src/store/entities/accept.ts';
import { readEntities, removeEntities } from '../../../src/store/entities/entities.ts';
import {
  decodeEntity,
  encodeEntity,
  type OpenRecord,
  openRecord,
  recordHeadsOf,
} from '../../../src/store/entities/entity-record.ts';
import { keys } from '../../../src/store/keys.ts';
import type { Store } from '../../../src/store/store.ts';
import { beforeCommand } from '../../support/before-command.ts';
import { TestRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';

const redis = await TestRedis.start();
const tenant = 'acme';
const sourceId = 'source-1';
const originIds = Array.from({ length: 300 }, (_, number) => `e${number}`);

function entity(originId: string, properties: JsonObject): SourceEntity {
  return { originId, type: 'page', url: null, originParentId: null, redirects: [], properties };
}

async function accept(store: Store, entities: readonly SourceEntity[]): Promise<void> {
  await acceptEntities(store, { tenant, sourceId, force: false, entities: entities.map(encodeEntity) });
}

async function storedProperties(store: Store): Promise<(JsonObject | undefined)[]> {
  const stored = await readEntities(
    store,
    tenant,
    originIds.map((originId) => ({ sourceId, originId })),
  );
  return stored.map((one) => one?.properties);
}

const longNames = (number: number): JsonObject => ({
  aNameThatIsAsLongAsAWholeSentence: number,
  anotherNameThatIsAsLongAsAWholeSentence: [`${number}`],
});

test('name lists: the records of many entities with equal names omit the names, and reading restores them', async () => {
  const store = await redis.openEmptyStore(2);
  const sent = originIds.map((originId, number) => entity(originId, longNames(number)));
  await accept(store, sent);
  assert.deepEqual(
    await storedProperties(store),
    sent.map(({ properties }) => properties),
  );
  const [tag = ''] = store.partitions.tags;
  const sizes = Object.values(await store.client.hgetallBuffer(keys.entities(tag, tenant, sourceId))).map(
    ({ length }) => length,
  );
  assert.ok(Math.max(...sizes) > Math.min(...sizes) + 60, 'the first records contain their names');
  const lists = await store.client.hvals(keys.names(tag, tenant, sourceId));
  assert.deepEqual(lists, [JSON.stringify(Object.keys(longNames(0)))]);
});

test('name lists: names that no two entities share stay in their records', async () => {
  const store = await redis.openEmptyStore(2);
  const sent = originIds.map((originId) => entity(originId, { [`only of ${originId}`]: 1 }));
  await accept(store, sent);
  assert.deepEqual(
    await storedProperties(store),
    sent.map(({ properties }) => properties),
  );
  for (const tag of store.partitions.tags) {
    assert.equal(await store.client.exists(keys.names(tag, tenant, sourceId)), 0);
  }
});

test('name lists: a list is deleted with the last entity of its source and everything derived from it, not earlier', async () => {
  const store = await redis.openEmptyStore(1);
  const [tag = ''] = store.partitions.tags;
  const place = { tag, tenant, sourceId };
  await accept(
    store,
    originIds.map((originId, number) => entity(originId, { n: number, m: 1 })),
  );
  await forgetNames(store, place);
  assert.equal(await store.client.exists(keys.names(tag, tenant, sourceId)), 1);
  await store.client.hset(keys.processed(tag, tenant, sourceId), 'e0', 'a record');
  await removeEntities(store, { tenant, sourceId, originIds });
  await forgetNames(store, place);
  assert.equal(await store.client.exists(keys.names(tag, tenant, sourceId)), 1, 'items may need them');
  await store.client.hdel(keys.processed(tag, tenant, sourceId), 'e0');
  await forgetNames(store, place);
  assert.equal(await store.client.exists(keys.names(tag, tenant, sourceId)), 0);
});

test('name lists: an entity that is purged between the reads of its record and of its names counts as deleted', async () => {
  const store = await redis.openEmptyStore(1);
  const reader = await redis.openStore(1);
  const [tag = ''] = store.partitions.tags;
  await accept(
    store,
    originIds.map((originId) => entity(originId, { 'read by nobody yet': originId })),
  );
  beforeCommand(reader, keys.names(tag, tenant, sourceId), async () => {
    await removeEntities(store, { tenant, sourceId, originIds });
    await forgetNames(store, { tag, tenant, sourceId });
  });
  const found = await storedProperties(reader);
  // The first records contain their names.
  assert.ok(found.includes(undefined));
  for (const [at, properties] of found.entries()) {
    if (properties !== undefined) assert.deepEqual(properties, { 'read by nobody yet': originIds[at] });
  }
});

test('name lists: an entity whose list of names is lost is corrupt, not deleted', async () => {
  const store = await redis.openEmptyStore(1);
  const [tag = ''] = store.partitions.tags;
  await accept(
    store,
    originIds.map((originId) => entity(originId, { 'read by nobody at all': originId })),
  );
  await store.client.del(keys.names(tag, tenant, sourceId));
  await assert.rejects(storedProperties(store), InvariantError);
});

test('name lists: two sources can have different lists under the same digest, and each gets its own', async () => {
  const store = await redis.openStore(1);
  const tag = store.partitions.tag(0);
  const digest = Buffer.from('8 bytes.');
  const places = [
    { tag, tenant: 'attacker', sourceId },
    { tag, tenant, sourceId },
    { tag, tenant, sourceId: 'source-2' },
  ];
  for (const [at, place] of places.entries()) {
    await store.client.hset(
      keys.names(tag, place.tenant, place.sourceId),
      digest,
      JSON.stringify([`name ${at}`]),
    );
  }
  for (const look of ['read from Redis', 'known']) {
    for (const [at, place] of places.entries()) {
      assert.deepEqual(await findNames(store, place, [digest]), [[`name ${at}`]], look);
      assert.deepEqual(knownNames(place, digest), [`name ${at}`], look);
    }
  }
});

/** The decoded record of an entity, and the names that it omits. */
function opened(properties: JsonObject): { open: OpenRecord; names: NameList | null } {
  const encoded = encodeEntity(entity('e', properties));
  const { body, names } = encoded.encode();
  return { open: openRecord(Buffer.concat([...recordHeadsOf([encoded]), body])), names };
}

test('name lists: any properties round-trip in their order, with their names in the record or without', () => {
  const names = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('__proto__', '7', '\ud800'),
  );
  fc.assert(
    fc.property(fc.dictionary(names, fc.jsonValue()), (made) => {
      const properties = JSON.parse(JSON.stringify(made)) as JsonObject;
      const text = JSON.stringify(properties);
      let leftOut = 0;
      for (let times = 0; times < 70; times += 1) {
        const { open, names: list } = opened(properties);
        const known = list === null ? null : (JSON.parse(list.text) as string[]);
        const decoded = decodeEntity({ sourceId, originId: 'e' }, open, known);
        assert.equal(JSON.stringify(decoded.properties), text);
        leftOut += list === null ? 0 : 1;
      }
      assert.equal(leftOut > 0, Object.keys(properties).length > 0);
    }),
    { numRuns: runs(30) },
  );
});

test('name lists: lists whose names are equal when joined are different lists', () => {
  const lists: JsonObject[] = [{ 'a\0b': 1, c: 2 }, { a: 1, 'b\0c': 2 }, { 'a\0b\0c': 1 }];
  for (let times = 0; times < 70; times += 1) {
    for (const properties of lists) {
      const { open, names } = opened(properties);
      const known = names === null ? null : (JSON.parse(names.text) as string[]);
      assert.deepEqual(decodeEntity({ sourceId, originId: 'e' }, open, known).properties, properties);
    }
  }
});
