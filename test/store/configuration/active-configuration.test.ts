import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration } from '../../../src/config/configuration.ts';
import { hashKeys } from '../../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { pack } from '../../../src/store/codec/pack.ts';
import { ActiveConfiguration } from '../../../src/store/configuration/active-configuration.ts';
import {
  type PublishOptions,
  publishConfiguration,
  readPublished,
} from '../../../src/store/configuration/published-configuration.ts';
import { keys } from '../../../src/store/keys.ts';
import { StoreFullError, StoreUnavailableError } from '../../../src/store/redis/redis-errors.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { documentsOf, pageSchema, siteTenant } from '../../config/support/site.ts';
import { beforeCommand } from '../../support/before-command.ts';
import { bytesMoved, TestRedis } from '../../support/redis.ts';
import { SlowRedis } from '../../support/slow-redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start({ durable: true });

function documents(title: string): Map<string, string> {
  return documentsOf({
    'tenants/acme/tenant.json': siteTenant(),
    'tenants/acme/schemas/page.json': { ...pageSchema, properties: { title } },
  });
}

/** Each tenant has its own API keys. */
const otherTenant = JSON.parse(JSON.stringify(siteTenant()).replaceAll('-key"', '-key-2"'));

async function publish(
  store: Store,
  files: ReadonlyMap<string, string>,
  options: PublishOptions = {},
): Promise<number> {
  const loaded = loadConfiguration(files);
  assert.ok(loaded.ok, 'the documents are valid');
  return publishConfiguration(store, files, loaded.configuration, options);
}

test('active configuration: a published configuration is read back unchanged, with a generation', async () => {
  const store = await redis.openEmptyStore(1);
  assert.equal(await readPublished(store), null);
  const files = documents('{p.title}');
  assert.equal(await publish(store, files), 1);
  const published = await readPublished(store);
  assert.deepEqual([published?.generation, published?.documents], [1, files]);
  assert.deepEqual([...(published?.tenants.keys() ?? [])], ['acme']);
});

test('active configuration: publishing the active configuration again creates no new generation', async () => {
  const store = await redis.openEmptyStore(1);
  assert.equal(await publish(store, documents('{p.title}')), 1);
  assert.equal(await publish(store, documents('{p.title}')), 1);
  assert.equal(await publish(store, documents('{p.name}')), 2);
  assert.equal(await publish(store, documents('{p.title}')), 3);
});

test('active configuration: publishing sends, and each process reads, only the documents of changed tenants', async (context) => {
  const store = await redis.openEmptyStore(1);
  const megabyte = 1024 * 1024;
  const long = Array.from({ length: 200 }, (_, at) => [`text${at}`, 'x'.repeat(40_000)]);
  const files = (title: string) =>
    new Map([
      ...documents(title),
      ...documentsOf({
        'tenants/other/tenant.json': otherTenant,
        'tenants/other/schemas/page.json': { ...pageSchema, properties: Object.fromEntries(long) },
      }),
    ]);
  const active = new ActiveConfiguration(store);
  context.after(() => active.close());
  await active.start();
  const publisher = await redis.openStore(1);
  assert.equal(await publish(publisher, files('{p.title}')), 1);
  await until('the first is received', () => active.generation === 1);
  const other = active.current.tenants.get('other');
  const before = await bytesMoved(publisher.client);
  assert.equal(await publish(publisher, files('{p.name}'), { after: 1 }), 2);
  await until('the second is received', () => active.generation === 2);
  const moved = (await bytesMoved(publisher.client)) - before;
  assert.ok(moved < megabyte, `${moved} bytes went to and from Redis`);
  assert.equal(active.current.tenants.get('other'), other);
  assert.deepEqual((await readPublished(store))?.documents, files('{p.name}'));
});

test('active configuration: a publication that reaches Redis late does not replace a newer one', async (context) => {
  const store = await redis.openEmptyStore(1);
  const wire = await SlowRedis.start(() => redis.port);
  context.after(() => wire.stop());
  const address = { kind: 'single', url: `${wire.url}/0` } as const;
  const command = await openStore({ address, partitionCount: 1, commandTimeoutMs: 300 });
  assert.equal(await publish(command, documents('{p.title}')), 1);
  beforeCommand(command, keys.purge, async () => wire.stall());
  await assert.rejects(publish(command, documents('{p.name}')), StoreUnavailableError);
  assert.equal(await publish(store, documents('{p.other}')), 2);
  wire.resume();
  // On the same connection, so it arrives after the late call.
  await command.client.ping();
  assert.deepEqual((await readPublished(store))?.documents, documents('{p.other}'));
  await command.close();
});

test('active configuration: documents of earlier configurations are not kept', async () => {
  const store = await redis.openEmptyStore(1);
  for (const title of ['{p.title}', '{p.name}', '{p.title}']) await publish(store, documents(title));
  const fields = await store.client.hkeys(keys.configuration);
  assert.equal(fields.filter((field) => field.startsWith('documents')).length, 1, fields.join(' '));
});

test('active configuration: opening a store with the documents of all tenants in one field splits the field', async () => {
  const store = await redis.openEmptyStore(1);
  const files = hashKeys(
    new Map([...documents('{p.title}'), ...documentsOf({ 'tenants/other/tenant.json': otherTenant })]),
  );
  await publish(store, files);
  const split = await store.client.hgetallBuffer(keys.configuration);
  const applied = pack([
    ['acme', 1000],
    ['other', 2000],
  ]);
  const old = {
    generation: '7',
    digest: 'of all texts',
    documents: pack([...files]),
    origin: 'other',
    applied,
  };
  await store.client.del(keys.configuration);
  await store.client.hset(keys.configuration, old);
  const published = await readPublished(await redis.openStore(1));
  assert.deepEqual([published?.generation, published?.documents], [7, files]);
  assert.deepEqual(
    [...(published?.tenants ?? [])].map(([tenant, { appliedAtMs }]) => [tenant, appliedAtMs]),
    [
      ['acme', 1000],
      ['other', 2000],
    ],
  );
  const fields = await store.client.hgetallBuffer(keys.configuration);
  assert.deepEqual(Object.keys(fields).sort(), Object.keys(split).sort());
  assert.deepEqual(fields.digest, split.digest);
  assert.equal(await publish(store, files), 7);
});

test('active configuration: a full Redis accepts no new configuration, and a process that starts with the active one keeps running', async (context) => {
  const store = await redis.openEmptyStore(1);
  assert.equal(await publish(store, documents('{p.title}')), 1);
  await store.client.config('SET', 'maxmemory', '1mb');
  context.after(() => store.client.config('SET', 'maxmemory', '0'));
  assert.equal(await publish(await redis.openStore(1), documents('{p.title}')), 1);
  await assert.rejects(publish(store, documents('{p.name}')), StoreFullError);
  await store.client.config('SET', 'maxmemory', '0');
});

test('active configuration: every process receives each publication in order, with the previous one', async (context) => {
  const store = await redis.openEmptyStore(1);
  const active = new ActiveConfiguration(store);
  context.after(() => active.close());
  await active.start();
  assert.equal(active.loaded, false);
  assert.throws(() => active.current);
  const received: [Configuration, Configuration | null][] = [];
  active.onChange((current, former) => received.push([current, former]));
  const other = await redis.openStore(1);
  await publish(other, documents('{p.title}'));
  await until('the first is received', () => active.generation === 1);
  await publish(other, documents('{p.name}'));
  await until('the second is received', () => active.generation === 2);
  assert.deepEqual(
    received.map(([current, former]) => [current.tenants.has('acme'), former]),
    [
      [true, null],
      [true, received[0]?.[0]],
    ],
  );
  assert.equal(active.current, received[1]?.[0]);
});

test('active configuration: a process that starts later runs the active configuration', async (context) => {
  const store = await redis.openEmptyStore(1);
  await publish(store, documents('{p.title}'));
  const active = new ActiveConfiguration(store);
  context.after(() => active.close());
  await active.start();
  assert.equal(active.loaded, true);
  assert.equal(active.generation, 1);
});

test('active configuration: a configuration published while this process had no Redis is found afterwards', async (context) => {
  const store = await redis.openEmptyStore(1);
  await publish(store, documents('{p.title}'));
  const active = new ActiveConfiguration(store);
  context.after(() => active.close());
  await active.start();
  await redis.killServer();
  await redis.startServer();
  const other = await redis.openStore(1);
  await publish(other, documents('{p.name}'));
  await until('it is received', () => active.generation === 2);
});
