/** Everything of a removed tenant or source is deleted permanently, and nothing else is. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { purgeJobs, purgeState } from '../../src/jobs/purge-job.ts';
import {
  ConfigurationRefusedError,
  readGenerations,
} from '../../src/store/configuration/published-configuration.ts';
import { beginPurge, endPurge, readPurge } from '../../src/store/configuration/purge-state.ts';
import { countTypes } from '../../src/store/entities/directory.ts';
import { countEntities } from '../../src/store/entities/entities.ts';
import { scheduledSources } from '../../src/store/entities/entity-schedule.ts';
import { connect } from '../../src/store/redis/redis-connection.ts';
import type { Store } from '../../src/store/store.ts';
import { runCommand } from '../cli/support/command.ts';
import { TestRedis } from '../support/redis.ts';
import { SlowRedis } from '../support/slow-redis.ts';
import { until } from '../support/until.ts';
import { type Files, Platform, page, siteFiles, tenant } from './support/platform.ts';

const redisUrl = (await TestRedis.start()).url;

const byName = {
  $lookup: {
    operator: 'equals',
    sourceEntityProperty: 'name',
    matchValue: '{p.name}',
    sourceEntityType: 'page',
  },
};
const schema = {
  triggers: { cms: ['page'] },
  route: { url: '{url}', handles: ['{originId}'] },
  properties: {
    title: '{p.name}',
    alike: { type: 'array', input: byName, items: '{item.originId}' },
  },
};
const index = {
  triggers: { cms: ['page'] },
  properties: { title: '{p.name}' },
  index: { fields: { title: { type: 'text' } } },
};
const acme = siteFiles({ schemas: { page: schema }, indexes: { pages: index } });
/** The same site under another name, with other keys. */
const twin: Files = Object.fromEntries(
  Object.entries(acme).map(([file, json]) => [
    file.replace(tenant, 'twin'),
    JSON.parse(JSON.stringify(json).replaceAll('-key', '-key-of-twin')),
  ]),
);
const pages = Array.from({ length: 150 }, (_, at) =>
  page(`p${at}`, { name: `Name ${at % 10}` }, { url: `/p${at}` }),
);

/** Two tenants with the same entities; `twin` is then removed. @returns the generation without it */
async function removedTwin(
  context: TestContext,
  ofTwin = pages,
): Promise<{ platform: Platform; generation: number }> {
  const platform = await Platform.start(context, redisUrl);
  await platform.publish({ ...acme, ...twin });
  await platform.startWorker();
  await platform.ingest(pages);
  await platform.ingest(ofTwin, 'src-1', 'twin');
  await platform.settle();
  return { platform, generation: await platform.publish(acme) };
}

/** Names of all keys that contain something of a tenant. */
async function keysOf(name: string): Promise<string[]> {
  const client = connect({ address: { kind: 'single', url: redisUrl } });
  const found = await client.keys(`*:${name}:*`);
  client.disconnect();
  return found.sort();
}

async function entitiesIn(platform: Platform, name: string): Promise<number> {
  const { store } = platform;
  const counts = await Promise.all(
    store.partitions.tags.map((_, partition) => countEntities(store, partition, name, 'src-1')),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Starts to purge the removed source. */
async function startPurge(context: TestContext, store: Store, generation: number) {
  const token = await beginPurge(store, generation, [{ tenant: 'twin', sourceId: 'src-1' }]);
  assert.ok(token !== null);
  const queue = purgeJobs(store);
  context.after(() => queue.close());
  await queue.addAll({ token });
  return { token, queue };
}

test('purge job: reports what is left of a tenant, and deletes only that', async (context) => {
  const times = { publishAt: null, unpublishAt: Date.parse('2999-01-01T00:00Z') };
  const scheduled = pages.map((one, at) => (at % 5 === 0 ? { ...one, times } : one));
  const { platform, generation } = await removedTwin(context, scheduled);
  await platform.startJobs();
  await platform.rebuilt(generation);
  const env = platform.environment('');
  const reported = await runCommand('purge', [], { env });
  assert.equal(reported.code, 1);
  assert.match(reported.stdout, /source src-1 of tenant twin, which is also removed: 150 entities\n/);
  assert.match(reported.stderr, /Nothing was changed/);
  assert.equal(await entitiesIn(platform, 'twin'), 150);
  const before = await keysOf(tenant);
  const purged = await runCommand('purge', ['--yes'], { env });
  assert.equal(purged.code, 0, purged.stderr);
  assert.match(
    purged.stdout,
    /Purged 150 entities, 0 views, 0 index items, 0 URLs and handles, 0 lookup entries/,
  );
  assert.deepEqual(await keysOf('twin'), []);
  const { store } = platform;
  for (const tag of store.partitions.tags) assert.deepEqual(await scheduledSources(store, tag), []);
  assert.deepEqual(await keysOf(tenant), before);
  assert.deepEqual(await platform.view('page', 'p3'), {
    title: 'Name 3',
    alike: pages
      .filter(({ properties }) => properties.name === 'Name 3')
      .map(({ originId }) => originId)
      .sort(),
  });
  const again = await runCommand('purge', [], { env });
  assert.deepEqual([again.code, /^Nothing to purge/.test(again.stdout)], [0, true]);
  const verified = await runCommand('verify', [], { env });
  assert.equal(verified.code, 0, verified.stdout);
});

test('purge job: outputs that no rebuild has removed are deleted with the entities, and counted', async (context) => {
  const { platform, generation } = await removedTwin(context);
  const { store } = platform;
  const { token, queue } = await startPurge(context, store, generation);
  await platform.startJobs();
  await until('it is purged', async () => (await purgeState(queue, token)).isDone);
  await platform.rebuilt(generation);
  assert.equal((await purgeState(queue, token)).counts.entities, 150);
  assert.deepEqual(await keysOf('twin'), []);
  assert.equal(await readPurge(store), null);
});

test('purge job: the next process continues an interrupted purge, and every entity is counted once', async (context) => {
  const many = Array.from({ length: 1_500 }, (_, at) =>
    page(`p${at}`, { name: `Name ${at}` }, { url: `/p${at}` }),
  );
  const { platform, generation } = await removedTwin(context, many);
  const { store } = platform;
  const first = await platform.startJobs();
  await platform.rebuilt(generation);
  const { token, queue } = await startPurge(context, store, generation);
  await until('some are gone', async () => (await entitiesIn(platform, 'twin')) < many.length - 100);
  await first.stop();
  const left = await entitiesIn(platform, 'twin');
  assert.ok(left > 0, 'it was stopped before its end');
  await platform.startJobs();
  await until('it is purged', async () => (await purgeState(queue, token)).isDone);
  assert.deepEqual((await purgeState(queue, token)).counts, {
    entities: many.length,
    views: 0,
    items: 0,
    claims: 0,
    lookups: 0,
    fieldTypes: 0,
  });
  assert.equal(await entitiesIn(platform, tenant), 150);
});

test('purge job: while a source is purged no configuration can add it again; afterwards it starts empty', async (context) => {
  const { platform, generation } = await removedTwin(context);
  const { store } = platform;
  const token = await beginPurge(store, generation, [{ tenant: 'twin', sourceId: 'src-1' }]);
  assert.ok(token !== null);
  await assert.rejects(platform.publish({ ...acme, ...twin }), ConfigurationRefusedError);
  assert.equal((await readGenerations(store)).active, generation);
  await platform.startJobs();
  const env = platform.environment('');
  const finished = await runCommand('purge', [], { env });
  assert.equal(finished.code, 0, finished.stderr);
  await platform.rebuilt(await platform.publish({ ...acme, ...twin }));
  await platform.ingest([page('new', { name: 'New' }, { url: '/new' })], 'src-1', 'twin');
  await platform.settle();
  assert.equal(await entitiesIn(platform, 'twin'), 1);
  const types = await countTypes(store, { tenant: 'twin', sourceId: 'src-1' });
  assert.deepEqual([...types], [['page', 1]]);
  const verified = await runCommand('verify', [], { env });
  assert.equal(verified.code, 0, verified.stdout);
});

test('purge job: a process that was cut off during a purge deletes nothing of sources that were added again since', async (context) => {
  const many = Array.from({ length: 1_500 }, (_, at) =>
    page(`p${at}`, { name: `Name ${at}` }, { url: `/p${at}` }),
  );
  const { platform, generation } = await removedTwin(context, many);
  const { store } = platform;
  const wire = await SlowRedis.start(() => Number(new URL(redisUrl).port));
  context.after(() => wire.stop());
  await platform.startJobs(wire.url);
  await platform.rebuilt(generation);
  const { token } = await startPurge(context, store, generation);
  await until('some are gone', async () => (await entitiesIn(platform, 'twin')) < many.length - 100);
  wire.stall();
  assert.ok((await entitiesIn(platform, 'twin')) > 0, 'it was cut off before its end');
  // Like another process that takes over.
  await endPurge(store, token);
  await platform.publish({ ...acme, ...twin });
  await platform.ingest(many, 'src-1', 'twin');
  // Longer than the time limit of its last call.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  wire.resume();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.equal(await entitiesIn(platform, 'twin'), many.length);
});

test('purge job: a purge that was planned for another configuration does not start', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const generation = await platform.publish(acme);
  await platform.publish({ ...acme, ...twin });
  assert.equal(await beginPurge(platform.store, generation, [{ tenant: 'twin', sourceId: 'src-1' }]), null);
  assert.equal(await readPurge(platform.store), null);
});

test('purge job: what an outdated front accepts after the purge does no harm and is deleted by the next one', async (context) => {
  const { platform, generation } = await removedTwin(context);
  await platform.startJobs();
  await platform.rebuilt(generation);
  const env = platform.environment('');
  assert.equal((await runCommand('purge', ['--yes'], { env })).code, 0);
  // Like a front that still has the previous configuration.
  await platform.ingest([page('late', { name: 'Late' }, { url: '/late' }), ...pages], 'src-1', 'twin');
  await platform.settle();
  const verified = await runCommand('verify', [], { env });
  assert.equal(verified.code, 0, verified.stdout);
  const purged = await runCommand('purge', ['--yes'], { env });
  assert.match(purged.stdout, /Purged 151 entities/);
  assert.deepEqual(await keysOf('twin'), []);
});
