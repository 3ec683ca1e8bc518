import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../src/store/keys.ts';
import { fieldsPortion, hashPortion, type ScanPlace } from '../../../src/store/redis/scan.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start({ durable: true });
const fieldCount = 5_000;
const portionFields = 300;

async function filledHash(store: Store): Promise<string> {
  const key = keys.entities(store.partitions.tag(0), 'acme', 'source');
  const fields = Array.from({ length: fieldCount }, (_, number) => [`f${number}`, 'value']);
  await store.client.hset(key, ...fields.flat());
  return key;
}

interface Portion {
  readonly fields: string[];
  readonly next: ScanPlace | null;
}

type PortionReader = (store: Store, key: string, place: ScanPlace | null) => Promise<Portion>;

const readers: Readonly<Record<string, PortionReader>> = {
  'fields and values': async (store, key, place) => {
    const { pairs, next } = await hashPortion(store, key, place, portionFields);
    return { fields: pairs.map(([field]) => field.toString()), next };
  },
  'fields alone': async (store, key, place) => {
    const { fields, next } = await fieldsPortion(store, key, place, portionFields);
    return { fields: fields.map((field) => field.toString()), next };
  },
};

/**
 * Scans a whole hash.
 * @param meanwhile called before each portion with its number
 * @returns the fields seen, and the number of portions
 */
async function scanned(
  read: PortionReader,
  store: Store,
  key: string,
  meanwhile: (portion: number) => Promise<void> = async () => {},
): Promise<{ fields: Set<string>; portions: number }> {
  const fields = new Set<string>();
  let place: ScanPlace | null = null;
  for (let portions = 1; ; portions += 1) {
    await meanwhile(portions);
    const portion: Portion = await read(store, key, place);
    for (const field of portion.fields) fields.add(field);
    place = portion.next;
    if (place === null) return { fields, portions };
  }
}

for (const [what, read] of Object.entries(readers)) {
  test(`scan: a scan of ${what} sees every field, in portions`, async () => {
    const store = await redis.openEmptyStore(1);
    const { fields, portions } = await scanned(read, store, await filledHash(store));
    assert.equal(fields.size, fieldCount);
    assert.ok(portions > 5, `${portions} portions`);
    const nothing = await scanned(read, store, 'nothing');
    assert.deepEqual(nothing, { fields: new Set(), portions: 1 });
  });

  test(`scan: a scan of ${what} skips nothing when Redis is restarted twice during it`, async () => {
    const store = await redis.openEmptyStore(1);
    const key = await filledHash(store);
    const { fields } = await scanned(read, store, key, async (portion) => {
      if (portion !== 8 && portion !== 12) return;
      await redis.killServer();
      await redis.startServer();
    });
    assert.equal(fields.size, fieldCount);
  });
}

test('scan: a cursor that an earlier process returned is not continued', async () => {
  const store = await redis.openEmptyStore(1);
  const key = await filledHash(store);
  const { next } = await hashPortion(store, key, null, portionFields);
  assert.ok(next !== null);
  await redis.killServer();
  await redis.startServer();
  const { next: afterwards } = await hashPortion(store, key, next, portionFields);
  assert.equal(afterwards?.cursor, '0');
  assert.notEqual(afterwards?.server, next.server);
});

test('scan: a scan of fields without values reads few at a time where the values are large', async () => {
  const store = await redis.openEmptyStore(1);
  const key = keys.entities(store.partitions.tag(0), 'acme', 'source');
  const large = 'x'.repeat(256 * 1024);
  for (let number = 0; number < 200; number += 1) await store.client.hset(key, `f${number}`, large);
  const { fields, portions } = await scanned(
    async (...place) => {
      const portion = await fieldsPortion(...place, portionFields);
      assert.ok(portion.fields.length < 40, `${portion.fields.length} values of 256 KiB in one call`);
      return { fields: portion.fields.map((field) => field.toString()), next: portion.next };
    },
    store,
    key,
  );
  assert.equal(fields.size, 200);
  assert.ok(portions > 5);
});
