/** The fields of auto-indexed types: workers agree on them, and their number is limited. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoFieldsMax, autoIndexedNamesMax } from '../../../src/contract/limits.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { StoreUnavailableError } from '../../../src/store/redis/redis-errors.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const fields = (prefix: string, count: number): Map<string, FieldType> =>
  new Map(Array.from({ length: count }, (_, number) => [`${prefix}${number}`, 'keyword']));

test('auto-index: a type keeps its first 1,000 fields, the same for every worker, and sends nothing to Redis once it is full', async () => {
  const store = await redis.openEmptyStore(4);
  const [one, other] = [new AutoFields(store), new AutoFields(await redis.openStore(4))];
  await other.decide('acme', 's', 'page', fields('a', 300));
  const decided = await one.decide('acme', 's', 'page', fields('b', 5_000));
  const expected = [...fields('a', 300).keys(), ...fields('b', autoFieldsMax - 300).keys()];
  assert.deepEqual([...(decided?.keys() ?? [])].sort(), expected.sort());
  assert.deepEqual(await other.decide('acme', 's', 'page', fields('c', 10)), decided);
  assert.deepEqual(await new AutoFields(store).read('acme', 's', 'page'), decided);
  await store.close();
  assert.deepEqual(await one.decide('acme', 's', 'page', fields('d', 10)), decided);
});

test('auto-index: two workers that fill a type concurrently agree on its fields', async () => {
  const store = await redis.openEmptyStore(4);
  const workers = [new AutoFields(store), new AutoFields(await redis.openStore(4))];
  const decided = await Promise.all(
    workers.map((worker, number) => worker.decide('acme', 's', 'page', fields(`w${number}-`, 900))),
  );
  const stored = await new AutoFields(store).read('acme', 's', 'page');
  assert.equal(stored?.size, autoFieldsMax);
  for (const own of decided) {
    for (const [name, type] of own ?? []) assert.equal(stored.get(name), type);
  }
});

test('auto-index: a source has a limited number of types and fields; another source has its own limit', async () => {
  const store = await redis.openEmptyStore(4);
  const worker = new AutoFields(store);
  const typesOfFull = Math.floor(autoIndexedNamesMax / (autoFieldsMax + 1));
  for (let number = 0; number < typesOfFull; number += 1) {
    const decided = await worker.decide('acme', 's', `full${number}`, fields('a', autoFieldsMax));
    assert.equal(decided?.size, autoFieldsMax);
  }
  const left = autoIndexedNamesMax - typesOfFull * (autoFieldsMax + 1);
  assert.equal((await worker.decide('acme', 's', 'last', fields('a', autoFieldsMax)))?.size, left - 1);
  assert.equal(await worker.decide('acme', 's', 'refused', fields('a', 1)), null);
  assert.equal(await worker.decide('acme', 's', 'refused', new Map()), null);
  assert.equal(await new AutoFields(store).read('acme', 's', 'refused'), null);
  assert.equal((await worker.decide('acme', 's', 'full0', fields('a', 5)))?.size, autoFieldsMax);
  assert.equal((await worker.decide('acme', 'other', 'page', fields('a', 1)))?.size, 1);
  assert.equal((await worker.decide('other', 's', 'page', fields('a', 1)))?.size, 1);
});

test('auto-index: the types of a removed source are deleted together, and only before the time limit', async () => {
  const store = await redis.openEmptyStore(4);
  const worker = new AutoFields(store);
  await worker.decide('acme', 's', 'page', fields('a', 3));
  await worker.decide('acme', 's', 'card', fields('b', 2));
  await worker.decide('acme', 'kept', 'page', fields('a', 1));
  const forget = async (limitMs: number) => {
    const limit = async () => performance.now() + limitMs;
    const counts = store.partitions.tags.map((tag) => worker.forgetDecided(tag, 'acme', 's', limit));
    return (await Promise.all(counts)).filter((count) => count > 0);
  };
  await assert.rejects(forget(-1), StoreUnavailableError);
  assert.ok(await worker.hasDecided('acme', 's'));
  assert.deepEqual(await forget(10_000), [7]);
  assert.equal(await worker.hasDecided('acme', 's'), false);
  assert.equal(await new AutoFields(store).read('acme', 's', 'card'), null);
  assert.ok(await worker.hasDecided('acme', 'kept'));
});
