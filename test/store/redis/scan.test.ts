import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../src/store/keys.ts';
import { hashPortion, type ScannedPortion, type ScanPlace } from '../../../src/store/redis/scan.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start({ durable: true });
const fieldCount = 5_000;
const portionFields = 300;

async function filledHash(store: Store): Promise<string> {
  const key = keys.meta(store.partitions.tag(0), 'acme', 'source');
  const fields = Array.from({ length: fieldCount }, (_, number) => [`f${number}`, 'value']);
  await store.client.hset(key, ...fields.flat());
  return key;
}

/** Scans a hash to its end. @param meanwhile called before each portion with its number @returns the fields seen, and how many portions */
async function scanned(
  store: Store,
  key: string,
  meanwhile: (portion: number) => Promise<void> = async () => {},
): Promise<{ fields: Set<string>; portions: number }> {
  const fields = new Set<string>();
  let place: ScanPlace | null = null;
  for (let portions = 1; ; portions += 1) {
    await meanwhile(portions);
    const { pairs, next }: ScannedPortion = await hashPortion(store, key, place, portionFields);
    for (const [field] of pairs) fields.add(field.toString());
    place = next;
    if (place === null) return { fields, portions };
  }
}

test('a scan sees every field, in portions', async () => {
  const store = await redis.openEmptyStore(1);
  const { fields, portions } = await scanned(store, await filledHash(store));
  assert.equal(fields.size, fieldCount);
  assert.ok(portions > 5, `${portions} portions`);
  const nothing = await scanned(store, 'nothing');
  assert.deepEqual(nothing, { fields: new Set(), portions: 1 });
});

test('a scan during which Redis is restarted, twice, skips nothing', async () => {
  const store = await redis.openEmptyStore(1);
  const key = await filledHash(store);
  const { fields } = await scanned(store, key, async (portion) => {
    if (portion !== 8 && portion !== 12) return;
    await redis.killServer();
    await redis.startServer();
  });
  assert.equal(fields.size, fieldCount);
});

test('a place in a scan that an earlier process gave is not gone on from', async () => {
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
