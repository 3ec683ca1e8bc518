import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration } from '../../../src/config/configuration.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { ActiveConfiguration } from '../../../src/store/configuration/active-configuration.ts';
import {
  publishConfiguration,
  readPublished,
} from '../../../src/store/configuration/published-configuration.ts';
import { StoreFullError } from '../../../src/store/redis/redis-errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { documentsOf, pageSchema, siteTenant } from '../../config/support/site.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start({ durable: true });

function documents(title: string): Map<string, string> {
  return documentsOf({
    'tenants/acme/tenant.json': siteTenant(),
    'tenants/acme/schemas/page.json': { ...pageSchema, properties: { title } },
  });
}

async function publish(store: Store, files: ReadonlyMap<string, string>): Promise<number> {
  const loaded = loadConfiguration(files);
  assert.ok(loaded.ok);
  return publishConfiguration(store, files, loaded.configuration);
}

test('a published configuration comes back as it was, with a generation', async () => {
  const store = await redis.openEmptyStore(1);
  assert.equal(await readPublished(store), null);
  const files = documents('{p.title}');
  assert.equal(await publish(store, files), 1);
  const published = await readPublished(store);
  assert.deepEqual([published?.generation, published?.documents], [1, files]);
  assert.deepEqual([...(published?.appliedAtMs.keys() ?? [])], ['acme']);
});

test('publishing what is active already is no new generation', async () => {
  const store = await redis.openEmptyStore(1);
  assert.equal(await publish(store, documents('{p.title}')), 1);
  assert.equal(await publish(store, documents('{p.title}')), 1);
  assert.equal(await publish(store, documents('{p.name}')), 2);
  assert.equal(await publish(store, documents('{p.title}')), 3);
});

test('a full Redis takes another configuration of nobody, and who starts with the active one goes on', async (context) => {
  const store = await redis.openEmptyStore(1);
  assert.equal(await publish(store, documents('{p.title}')), 1);
  await store.client.config('SET', 'maxmemory', '1mb');
  context.after(() => store.client.config('SET', 'maxmemory', '0'));
  assert.equal(await publish(await redis.openStore(1), documents('{p.title}')), 1);
  await assert.rejects(publish(store, documents('{p.name}')), StoreFullError);
  await store.client.config('SET', 'maxmemory', '0');
});

test('every process follows what is published, in order, with the one before', async (context) => {
  const store = await redis.openEmptyStore(1);
  const active = new ActiveConfiguration(store);
  context.after(() => active.close());
  await active.start();
  assert.equal(active.loaded, false);
  assert.throws(() => active.current);
  const heard: [Configuration, Configuration | null][] = [];
  active.onChange((current, former) => heard.push([current, former]));
  const other = await redis.openStore(1);
  await publish(other, documents('{p.title}'));
  await until('the first is followed', () => active.generation === 1);
  await publish(other, documents('{p.name}'));
  await until('the second is followed', () => active.generation === 2);
  assert.deepEqual(
    heard.map(([current, former]) => [current.tenants.has('acme'), former]),
    [
      [true, null],
      [true, heard[0]?.[0]],
    ],
  );
  assert.equal(active.current, heard[1]?.[0]);
});

test('a process that starts later runs what is active', async (context) => {
  const store = await redis.openEmptyStore(1);
  await publish(store, documents('{p.title}'));
  const active = new ActiveConfiguration(store);
  context.after(() => active.close());
  await active.start();
  assert.equal(active.loaded, true);
  assert.equal(active.generation, 1);
});

test('a configuration that was published while Redis was away from us is found afterwards', async (context) => {
  const store = await redis.openEmptyStore(1);
  await publish(store, documents('{p.title}'));
  const active = new ActiveConfiguration(store);
  context.after(() => active.close());
  await active.start();
  await redis.killServer();
  await redis.startServer();
  const other = await redis.openStore(1);
  await publish(other, documents('{p.name}'));
  await until('it is followed', () => active.generation === 2);
});
