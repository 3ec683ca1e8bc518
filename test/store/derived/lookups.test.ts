import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  candidatePortions,
  type IndexWrite,
  type LookupKey,
  readCandidates,
  registerDependents,
  touchKeys,
} from '../../../src/store/derived/lookups.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const caller = { partition: 0, epoch: 1 };
const tenant = 'acme';
const sourceId = 's';

function key(lookupKey: string): LookupKey {
  return { tenant, sourceId, lookupKey };
}

function entry(lookupKey: string, originId: string, values: string | null, layoutId = 'layout'): IndexWrite {
  return { ...key(lookupKey), layoutId, originId, projection: values };
}

async function touch(
  store: Store,
  writes: readonly IndexWrite[],
  touched: readonly LookupKey[],
): Promise<string[]> {
  const members: string[] = [];
  for await (const round of touchKeys(store, caller, writes, touched)) {
    members.push(...round.flatMap((one) => one.members));
  }
  return members.sort();
}

async function register(store: Store, action: 'add' | 'drop', lookupKey: string, ...members: string[]) {
  await registerDependents(
    store,
    caller,
    members.map((member) => ({ ...key(lookupKey), action, member })),
  );
}

async function candidates(store: Store, ...lookupKeys: string[]) {
  const found = await readCandidates(store, 'layout', lookupKeys.map(key));
  return found.sort((a, b) => (a.originId < b.originId ? -1 : 1));
}

test('lookups: an entry is found under its key, with its projection, until it is dropped', async () => {
  const store = await redis.openEmptyStore(4);
  await touch(
    store,
    [entry('k', '1', '["a",{"__proto__":1}]'), entry('k', '2', '[null]'), entry('l', '1', '[]')],
    [],
  );
  const found = await candidates(store, 'k');
  assert.deepEqual(
    found.map(({ originId, values }) => [originId, JSON.stringify(values)]),
    [
      ['1', '["a",{"__proto__":1}]'],
      ['2', '[null]'],
    ],
  );
  assert.equal(
    (await candidates(store, 'k', 'l', 'none')).length,
    3,
    'an entry with several keys is returned several times',
  );
  await touch(store, [entry('k', '1', null), entry('k', '2', '["new"]')], []);
  assert.deepEqual(await candidates(store, 'k'), [{ originId: '2', values: ['new'] }]);
});

test('lookups: a whole type is read in portions, each entry at least once; many keys are too', async () => {
  const store = await redis.openEmptyStore(4);
  const count = 20_000;
  const all = Array.from({ length: count }, (_, number) => entry('all', `o${number}`, `[${number}]`));
  const few = Array.from({ length: 300 }, (_, number) => entry(`k${number}`, `f${number}`, '[]'));
  await touch(store, [...all, ...few], []);
  const found = new Map<string, unknown>();
  const sizes: number[] = [];
  const lookupKeys = ['all', ...few.map(({ lookupKey }) => lookupKey)].map(key);
  for await (const { size, candidates } of candidatePortions(store, 'layout', lookupKeys)) {
    sizes.push(size);
    for (const { originId, values } of candidates) found.set(originId, values[0]);
  }
  assert.equal(found.size, count + few.length);
  for (const { originId, projection } of all) assert.equal(JSON.stringify([found.get(originId)]), projection);
  assert.ok(Math.max(...sizes) < count / 4, `${Math.max(...sizes)} entries in one reply`);
});

test('lookups: entries of megabytes are written a few at a time', async () => {
  const store = await redis.openEmptyStore(1);
  const large = JSON.stringify(['x'.repeat(700_000)]);
  const names = Array.from({ length: 8 }, (_, at) => `k${at}`);
  const calls = async (): Promise<number> => {
    const stats = await store.client.info('commandstats');
    return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  };
  await touch(store, [entry('k0', '0', '[0]')], [key('k0')]);
  const before = await calls();
  await touch(
    store,
    names.map((name) => entry(name, '1', large)),
    names.map(key),
  );
  assert.ok((await calls()) - before >= names.length);
  for (const name of names) {
    const found = await candidates(store, name);
    assert.equal(JSON.stringify(found.find(({ originId }) => originId === '1')?.values), large);
  }
});

test('lookups: entries of megabytes are read one at a time, and small ones together', async () => {
  const store = await redis.openEmptyStore(4);
  const large = JSON.stringify([Array.from({ length: 200_000 }, (_, at) => [at % 10])]);
  const small = ['1', '2', '3'].map((originId) => entry('k', originId, '[0]'));
  await touch(store, [...small, entry('k', 'a', large), entry('k', 'b', large)], []);
  const portions: string[][] = [];
  for await (const { size, candidates } of candidatePortions(store, 'layout', [key('k')])) {
    const all = [...candidates];
    assert.equal(all.length, size);
    portions.push(all.map(({ originId }) => originId).sort());
    for (const { originId, values } of all) {
      assert.equal(JSON.stringify(values), originId < 'a' ? '[0]' : large);
    }
  }
  assert.deepEqual(portions.sort(), [['1', '2', '3'], ['a'], ['b']]);
});

test('lookups: entries of another layout, source or tenant are not visible', async () => {
  const store = await redis.openEmptyStore(4);
  await touch(store, [entry('k', '1', '[]', 'other')], []);
  await touch(store, [{ ...entry('k', '2', '[]'), tenant: 'other' }], []);
  await touch(store, [{ ...entry('k', '3', '[]'), sourceId: 'other' }], []);
  assert.deepEqual(await candidates(store, 'k'), []);
});

test('lookups: a touch invalidates the dependents of the touched keys, and no others', async () => {
  const store = await redis.openEmptyStore(4);
  await register(store, 'add', 'k', 'view-1', 'view-2');
  await register(store, 'add', 'l', 'view-3');
  await register(store, 'add', 'm', 'view-4');
  assert.deepEqual(await touch(store, [], [key('k'), key('l')]), ['view-1', 'view-2', 'view-3']);
  await register(store, 'drop', 'k', 'view-1');
  assert.deepEqual(await touch(store, [], [key('k')]), ['view-2']);
  assert.deepEqual(await touch(store, [entry('m', '1', '[]')], []), [], 'a write reads no dependents');
});

test('lookups: registering twice is idempotent, and dropping a missing entry does nothing', async () => {
  const store = await redis.openEmptyStore(4);
  await register(store, 'add', 'k', 'a', 'a');
  await register(store, 'add', 'k', 'a');
  await register(store, 'drop', 'k', 'never');
  assert.deepEqual(await touch(store, [], [key('k')]), ['a']);
});

test('lookups: when a change and a computation race, one of them always sees the other', async () => {
  const store = await redis.openEmptyStore(4);
  for (let round = 0; round < 200; round += 1) {
    const lookupKey = `race-${round}`;
    const computation = async () => {
      await register(store, 'add', lookupKey, 'view');
      return candidates(store, lookupKey);
    };
    const change = () => touch(store, [entry(lookupKey, '1', '[]')], [key(lookupKey)]);
    const changeFirst = round % 2 === 0 ? change() : null;
    const computed = computation();
    const [seen, reported] = await Promise.all([computed, changeFirst ?? change()]);
    assert.ok(seen.length === 1 || reported.length === 1, `round ${round}: neither saw the other`);
  }
});

test('lookups: many thousand dependents and entries of one key are all invalidated and found', async () => {
  const store = await redis.openEmptyStore(2);
  const members = Array.from({ length: 3500 }, (_, index) => `v|e|list|s|${index}`);
  await register(store, 'add', 'k', ...members);
  await register(store, 'add', 'small', 'one');
  const writes = members.map((_, index) => entry('k', String(index), '[1]'));
  const reported = await touch(store, writes, [key('k'), key('small'), key('none')]);
  assert.deepEqual([...new Set(reported)].sort(), ['one', ...members].sort());
  assert.equal((await candidates(store, 'k')).length, 3500);
});

test('lookups: all of a thousand touched keys are checked', async () => {
  const store = await redis.openEmptyStore(3);
  const names = Array.from({ length: 1000 }, (_, index) => `k${index}`);
  await Promise.all(names.map((name) => register(store, 'add', name, `of-${name}`)));
  const reported = await touch(
    store,
    names.map((name) => entry(name, '1', '[]')),
    names.map(key),
  );
  assert.deepEqual(reported, names.map((name) => `of-${name}`).sort());
});
