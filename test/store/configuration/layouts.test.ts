import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration } from '../../../src/config/configuration.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import type { Json } from '../../../src/contract/json.ts';
import { readLayouts, recordFilled, retirePrevious } from '../../../src/store/configuration/layouts.ts';
import { publishConfiguration } from '../../../src/store/configuration/published-configuration.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const place = { tenant: 'acme', sourceId: 'src' };
const partitions = [0, 1, 2];

/** A configuration whose lookups read the entities of one source by a property; null: without lookups. */
async function publish(store: Store, property: string | null): Promise<[number, Configuration]> {
  const files = new Map<string, Json>([
    [
      'tenants/acme/tenant.json',
      {
        environments: [{ id: 'env', alias: 'production' }],
        sourceGroups: [
          {
            alias: 'cms',
            sources: [{ id: 'src', name: 'CMS', environments: ['production'], apiKeys: ['s'] }],
          },
        ],
        domains: [{ alias: 'site', hostnames: ['*'] }],
        environmentClients: [{ name: 'site', environment: 'production', domains: ['site'], apiKeys: ['c'] }],
      },
    ],
  ]);
  if (property !== null) {
    const $lookup = { filter: `properties.${property} eq {originId}` };
    files.set('tenants/acme/schemas/list.json', {
      triggers: { cms: ['list'] },
      properties: { found: { type: 'array', input: { $lookup } } },
    });
  }
  const documents = new Map([...files].map(([file, json]) => [file, JSON.stringify(json)]));
  const loaded = loadConfiguration(documents);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.issues));
  return [await publishConfiguration(store, documents, loaded.configuration), loaded.configuration];
}

function wantedBy(configuration: Configuration) {
  return configuration.tenants.get('acme')?.lookupLayouts.get('src') ?? null;
}

test('layouts: the layouts of the first configuration are complete, those of later ones are not', async () => {
  const store = await redis.openEmptyStore(partitions.length);
  const [, first] = await publish(store, 'a');
  assert.deepEqual((await readLayouts(store)).completeOf(place), wantedBy(first));
  const [, second] = await publish(store, 'b');
  const layouts = await readLayouts(store);
  assert.deepEqual(layouts.completeOf(place), wantedBy(first));
  assert.deepEqual(layouts.keptOf(place, wantedBy(second)), [wantedBy(second), wantedBy(first)]);
  assert.deepEqual(layouts.keptOf(place, wantedBy(first)), [wantedBy(first)]);
});

test('layouts: a layout is read once every partition is filled for one generation, and the old one is kept until it is retired', async () => {
  const store = await redis.openEmptyStore(partitions.length);
  const [, first] = await publish(store, 'a');
  const [generation, second] = await publish(store, 'b');
  const wanted = wantedBy(second);
  for (const partition of [0, 1, 1, 0]) await recordFilled(store, generation, partition, place, wanted);
  const [later] = await publish(store, 'c');
  const [again] = await publish(store, 'b');
  await recordFilled(store, generation, 2, place, wanted);
  await recordFilled(store, later, 2, place, wanted);
  await recordFilled(store, again, 2, place, wanted);
  const before = await readLayouts(store);
  assert.deepEqual(
    before.completeOf(place),
    wantedBy(first),
    'entities may have left it under another generation',
  );
  for (const partition of [0, 1]) await recordFilled(store, again, partition, place, wanted);
  const filled = await readLayouts(store);
  assert.deepEqual(filled.completeOf(place), wanted);
  assert.deepEqual(filled.keptOf(place, wanted), [wanted, wantedBy(first)]);
  assert.ok(filled.version > before.version);
  await retirePrevious(store, before);
  assert.deepEqual(
    (await readLayouts(store)).retiring,
    filled.retiring,
    'workers may not know the newer version',
  );
  await retirePrevious(store, filled);
  const retired = await readLayouts(store);
  assert.deepEqual(retired.keptOf(place, wanted), [wanted]);
  assert.ok(retired.version > filled.version);
});

test('layouts: a second layout waits until the previous one is retired', async () => {
  const store = await redis.openEmptyStore(partitions.length);
  await publish(store, 'a');
  const fill = async (property: string | null) => {
    const [generation, configuration] = await publish(store, property);
    for (const partition of partitions) {
      await recordFilled(store, generation, partition, place, wantedBy(configuration));
    }
    return wantedBy(configuration);
  };
  const second = await fill('b');
  await fill(null);
  assert.deepEqual((await readLayouts(store)).completeOf(place), second);
  await retirePrevious(store, await readLayouts(store));
  await fill('c');
  await retirePrevious(store, await readLayouts(store));
  await fill(null);
  const layouts = await readLayouts(store);
  assert.equal(layouts.completeOf(place), null);
  assert.deepEqual(layouts.keptOf(place, null).length, 1, 'a worker may still read it');
  await retirePrevious(store, layouts);
  assert.deepEqual((await readLayouts(store)).keptOf(place, null), []);
});
