/** No step of a rebuild starts while a process could still act on the previous state. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Json } from '../../src/contract/json.ts';
import { PacedPortions } from '../../src/jobs/backpressure.ts';
import { LayoutWatch, layoutChanges } from '../../src/jobs/layout-change.ts';
import { OwnerSlots } from '../../src/jobs/partition-job.ts';
import { runRebuild } from '../../src/jobs/rebuild-job.ts';
import { ActiveConfiguration } from '../../src/store/configuration/active-configuration.ts';
import { readLayouts } from '../../src/store/configuration/layouts.ts';
import { AutoFields } from '../../src/store/entities/auto-fields.ts';
import { takeLease } from '../../src/store/ownership/lease.ts';
import { readOwner } from '../../src/store/ownership/owners.ts';
import { Fleet } from '../actors/support/fleet.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { Platform, page, siteFiles } from './support/platform.ts';

const redis = await TestRedis.start();
/** More than a job processes without waiting. */
const unlessWaitingMs = 1_000;

/** Lists the pages with the same value of a property, so that the property determines the lookup layout. */
function filesBy(property: string): Readonly<Record<string, Json>> {
  const input: Json = { $lookup: { filter: `properties.${property} eq {p.${property}}` } };
  const list = {
    triggers: { cms: ['page'] },
    properties: { names: { type: 'array', input, items: '{item.originId}' } },
  };
  return siteFiles({ schemas: { list } });
}

async function follow(context: TestContext, { store }: Platform): Promise<ActiveConfiguration> {
  const configuration = new ActiveConfiguration(store);
  await configuration.start();
  context.after(() => configuration.close());
  return configuration;
}

/** The job of the only partition, from its start. */
function rebuild(
  { store }: Platform,
  configuration: ActiveConfiguration,
  generation: number,
  signal = new AbortController().signal,
): Promise<void> {
  return runRebuild(
    {
      store,
      configuration,
      autoFields: new AutoFields(store),
      slots: new OwnerSlots(),
      pace: new PacedPortions(store),
      layoutWatch: new LayoutWatch(store),
      onInvalidated: () => {},
    },
    { task: { generation, partition: 0 }, progress: null, signal, save: async () => {} },
  );
}

test('applied by all: an owner whose lease has expired can still commit, so nothing counts as done before it is fenced', async (context) => {
  const platform = await Platform.start(context, redis.url, 1);
  const { store } = platform;
  await platform.publish(filesBy('team'));
  // It hangs as soon as it has taken the partition, and sends no heartbeat.
  const stalled = await takeLease(store, 0, 'stalled', 1);
  assert.ok(stalled !== null);
  await until('its lease has expired', async () => !(await readOwner(store, 0)).holds);
  const generation = await platform.publish(filesBy('club'));
  const configuration = await follow(context, platform);
  // An empty partition would be done immediately.
  const waiting = rebuild(platform, configuration, generation, AbortSignal.timeout(unlessWaitingMs));
  await assert.rejects(waiting, { name: 'AbortError' });
  await platform.startWorker();
  await rebuild(platform, configuration, generation);
  assert.ok((await readOwner(store, 0)).epoch > stalled.epoch);
});

test('applied by all: a job that starts when lookups switch to another layout ignores an earlier check', async (context) => {
  const platform = await Platform.start(context, redis.url, 1);
  const { store } = platform;
  await platform.publish(filesBy('team'));
  const generation = await platform.publish(filesBy('club'));
  const watch = new LayoutWatch(store);
  const configuration = await follow(context, platform);
  assert.equal(await watch.advance(generation, 0, await layoutChanges(store, configuration)), false);
  assert.equal((await readLayouts(store)).retiring.length, 1, 'the old layout still exists');
  const changes = await layoutChanges(store, configuration);
  assert.deepEqual(changes, []);
  assert.equal(await watch.advance(generation, 0, changes), false);
});

test('applied by all: a job that starts when an old layout is retired waits until the workers know it', async (context) => {
  const platform = await Platform.start(context, redis.url, 1);
  const { store } = platform;
  await platform.publish(filesBy('team'));
  // It learns of a change when the test says so.
  const ofWorker = new ActiveConfiguration(store);
  await ofWorker.refresh();
  const fleet = new Fleet(redis, store);
  context.after(() => fleet.stop());
  fleet.join(await redis.openStore(1), ofWorker);
  await platform.ingest([page('p', { team: 't', club: 'c' })]);
  await platform.settle();
  const [former] = await store.client.keys('*:lookup:*');
  assert.ok(former !== undefined);

  const generation = await platform.publish(filesBy('club'));
  await ofWorker.refresh();
  const configuration = await follow(context, platform);
  const brokenOff = new AbortController();
  const first = rebuild(platform, configuration, generation, brokenOff.signal);
  const retiring = async () => (await readLayouts(store)).retiring.length;
  await until('lookups read the wanted layout', async () => (await retiring()) === 1);
  await ofWorker.refresh();
  await until('the old one is retired', async () => (await retiring()) === 0);
  brokenOff.abort();
  await assert.rejects(first, { name: 'AbortError' });

  const waiting = rebuild(platform, configuration, generation, AbortSignal.timeout(unlessWaitingMs));
  await assert.rejects(waiting, { name: 'AbortError' });
  await ofWorker.refresh();
  await rebuild(platform, configuration, generation);
  const left = await store.client.keys('*:lookup:*');
  const layoutOf = (key: string) => key.split(':')[4];
  assert.ok(left.length > 0);
  assert.ok(
    left.every((key) => layoutOf(key) !== layoutOf(former)),
    left.join('\n'),
  );
});
