/** Faults of a store and its workers, and what must be true afterwards. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { processBatch } from '../../src/actors/batch/batch.ts';
import { NamedFields } from '../../src/actors/batch/batch-changes.ts';
import { Intents } from '../../src/actors/batch/batch-intents.ts';
import { CallMemory } from '../../src/actors/batch/call-memory.ts';
import { CodeRuns } from '../../src/actors/batch/code-runs.ts';
import { PartitionActor } from '../../src/actors/partition.ts';
import { SchedulePortions } from '../../src/actors/partition-schedule.ts';
import { WorkerMetrics } from '../../src/actors/worker-metrics.ts';
import type { SourceEntity } from '../../src/contract/entity.ts';
import { codeOpenCharactersMax } from '../../src/contract/limits.ts';
import { Semaphore } from '../../src/lib/semaphore.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { RemovedViews } from '../../src/store/change-log/reported-views.ts';
import { readClaimFields, writeClaims } from '../../src/store/claims/claims.ts';
import { ActiveConfiguration } from '../../src/store/configuration/active-configuration.ts';
import type { Suspect } from '../../src/store/derived/dependents.ts';
import { intentName, recordIntents } from '../../src/store/derived/intents.ts';
import { acceptEntities } from '../../src/store/entities/accept.ts';
import { AutoFields } from '../../src/store/entities/auto-fields.ts';
import { encodeEntity } from '../../src/store/entities/entity-record.ts';
import { claimField, keys } from '../../src/store/keys.ts';
import {
  fenceOlderOwners,
  releaseLease,
  type TakenLease,
  takeLease,
} from '../../src/store/ownership/lease.ts';
import { readOwners } from '../../src/store/ownership/owners.ts';
import { StoreFullError } from '../../src/store/redis/redis-errors.ts';
import type { Store } from '../../src/store/store.ts';
import { openStreamSource } from '../../src/store/streams/shared-streams.ts';
import { Progress } from '../../src/store/visibility/progress.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { Fleet, publishDocuments, RecordingSink } from './support/fleet.ts';
import { storedViews } from './support/stored.ts';
import { World, worldDocuments } from './support/world.ts';

const redis = await TestRedis.start({ durable: true });

function page(number: number, title: string): SourceEntity {
  return {
    originId: `e${number}`,
    type: 'page',
    url: `/e${number}`,
    originParentId: number === 0 ? null : 'e0',
    redirects: [],
    properties: { title, rank: number },
  };
}

class Site {
  readonly world = new World();
  readonly fleet: Fleet;
  readonly progress: Progress;
  #version = new Map<number, number>();

  private constructor(readonly store: Store) {
    this.fleet = new Fleet(redis, store);
    this.progress = new Progress(store);
    this.progress.start();
  }

  static async open(context: TestContext, partitionCount: number): Promise<Site> {
    const store = await redis.openEmptyStore(partitionCount);
    await publishDocuments(store, worldDocuments());
    const site = new Site(store);
    context.after(async () => {
      site.progress.close();
      await site.fleet.stop();
    });
    return site;
  }

  async ingest(...entities: SourceEntity[]): Promise<void> {
    const request = {
      tenant: 'acme',
      sourceId: 'src-cms',
      force: false,
      entities: entities.map(encodeEntity),
    };
    const { version } = await acceptEntities(this.store, request);
    for (const entity of entities) this.world.of('src-cms').set(entity.originId, entity);
    for (const [partition, sequence] of version) {
      this.#version.set(partition, Math.max(sequence, this.#version.get(partition) ?? 0));
    }
  }

  forgetVersion(): void {
    this.#version = new Map();
  }

  async check(): Promise<void> {
    assert.ok(await this.progress.waitFor('acme', this.#version, 30_000), 'everything becomes visible');
    const stored = await storedViews(this.store, 'acme', 'env-1');
    assert.deepEqual(inOrder(stored), inOrder(this.world.views('env-1')));
  }
}

function inOrder<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

test('recovery: workers wait for a killed Redis, and continue without help', async (context) => {
  const site = await Site.open(context, 3);
  await site.fleet.add();
  await site.ingest(page(0, 'home'), page(1, 'one'));
  await site.check();
  await redis.killServer();
  await redis.startServer();
  await site.ingest(page(1, 'uno'), page(2, 'two'));
  await site.check();
});

test('recovery: after a restart of a Redis that may forget writes, each partition is loaded once', async (context) => {
  const site = await Site.open(context, 8);
  await site.store.client.config('SET', 'appendfsync', 'everysec');
  const { worker, sink } = await site.fleet.add();
  await site.ingest(page(0, 'home'), page(1, 'one'));
  await site.check();
  await until('all partitions are loaded', () => worker.covered().size === 8);
  // Loads one partition after the other, like a worker with many items.
  const open = sink.open.bind(sink);
  let loads = 0;
  let former = Promise.resolve();
  sink.open = (...lease) => {
    former = former.then(async () => {
      await setTimeout(50);
      await open(...lease);
      loads += 1;
    });
    return former;
  };
  await redis.killServer();
  await until('the worker has noticed', () => worker.covered().size === 0);
  await redis.startServer();
  await site.ingest(page(1, 'uno'), page(2, 'two'));
  await site.check();
  await until('all partitions are loaded again', () => worker.covered().size === 8);
  assert.equal(loads, 8);
});

test('recovery: writes accepted before Redis was full are processed, also by a worker that takes over then', async (context) => {
  const site = await Site.open(context, 2);
  const first = await site.fleet.add();
  await site.ingest(page(0, 'home'), page(1, 'one'));
  await site.check();
  await site.store.client.config('SET', 'maxmemory-policy', 'noeviction');
  context.after(() => site.store.client.config('SET', 'maxmemory', '0'));
  // Work is in progress when memory runs out.
  await site.ingest(page(1, 'uno'), page(2, 'two'));
  await site.store.client.config('SET', 'maxmemory', '1mb');
  await assert.rejects(site.ingest(page(3, 'three')), StoreFullError);
  await first.stop();
  await site.fleet.add();
  await site.check();
  await site.store.client.config('SET', 'maxmemory', '0');
  await site.ingest(page(1, 'eins'), page(3, 'three'));
  await site.check();
});

test('recovery: entities whose stream entries were lost are found again', async (context) => {
  const site = await Site.open(context, 2);
  for (let number = 0; number < 10; number += 1) await site.ingest(page(number, `t${number}`));
  for (const tag of site.store.partitions.tags) {
    await site.store.client.xtrim(keys.stream(tag), 'MAXLEN', 1);
  }
  await site.fleet.add();
  await site.check();
  assert.match(String(site.fleet.errors), /were not all there/, 'it is reported');
});

const scope = { tenant: 'acme', environmentId: 'env-1' };
const goneField = claimField.url('/gone');

/** Records an intent and puts a claim for a missing entity, like an owner that dies before its commit. */
async function putAndGo(store: Store): Promise<void> {
  const lease = await takeLease(store, 0, 'former', 10_000);
  assert.ok(lease !== null);
  const { environmentId } = scope;
  const claim = { field: goneField, host: null, display: '/gone' };
  const suspect: Suspect = { ...claim, kind: 'claim', environmentId, alias: 'page', claimKind: 'page' };
  const name = intentName({ tenant: 'acme', sourceId: 'src-cms', originId: 'gone' });
  await recordIntents(store, lease, new Map([['1.1', new Map([[name, [suspect]]])]]));
  const view = { sourceId: 'src-cms', alias: 'page', originId: 'gone' };
  const { field, host, display } = claim;
  const put = { host, kind: 'page' as const, sinceStamp: 1, view, display, redirect: null };
  await writeClaims(store, lease, [{ action: 'put', scope, field, claim: put }]);
  await releaseLease(store, lease);
}

async function checkTakenBack({ store }: Site): Promise<void> {
  assert.deepEqual(await readClaimFields(store, scope, [goneField]), [[]]);
  assert.equal(await store.client.exists(keys.intents(store.partitions.tag(0))), 0);
}

test('recovery: claims for a deleted entity are removed, though its stream entries were lost', async (context) => {
  const site = await Site.open(context, 1);
  await putAndGo(site.store);
  for (let number = 0; number < 3; number += 1) await site.ingest(page(number, `t${number}`));
  await site.store.client.xtrim(keys.stream(site.store.partitions.tag(0)), 'MAXLEN', 1);
  await site.fleet.add();
  await site.check();
  await checkTakenBack(site);
});

test('recovery: claims for an uncommitted entity are removed by the next owner, without a stream entry', async (context) => {
  const site = await Site.open(context, 1);
  await putAndGo(site.store);
  await site.fleet.add();
  await site.ingest(page(0, 'home'));
  await site.check();
  await checkTakenBack(site);
});

async function snapshot(store: Store): Promise<Map<string, Buffer>> {
  const taken = new Map<string, Buffer>();
  for (const key of await store.client.keys('{p*')) {
    const dumped = await store.client.dumpBuffer(key);
    if (dumped) taken.set(key, dumped);
  }
  return taken;
}

test('recovery: workers of a store that was rolled back repeat its work, and skip nothing new', async (context) => {
  const site = await Site.open(context, 2);
  await site.fleet.add();
  for (let number = 0; number < 6; number += 1) await site.ingest(page(number, `t${number}`));
  await site.check();
  const earlier = await snapshot(site.store);
  const known = new Map(site.world.of('src-cms'));
  for (let number = 0; number < 12; number += 1) await site.ingest(page(number, `lost ${number}`));
  await site.check();

  // As after a failover to a replica without the last seconds.
  const transaction = site.store.client.multi();
  for (const key of await site.store.client.keys('{p*')) transaction.del(key);
  for (const [key, dumped] of earlier) transaction.restore(key, 0, dumped);
  await transaction.exec();
  site.world.of('src-cms').clear();
  for (const [originId, entity] of known) site.world.of('src-cms').set(originId, entity);
  site.forgetVersion();

  for (let number = 4; number < 8; number += 1) await site.ingest(page(number, `new ${number}`));
  await until(
    'the views match the current store',
    async () => {
      const stored = await storedViews(site.store, 'acme', 'env-1');
      return JSON.stringify(inOrder(stored)) === JSON.stringify(inOrder(site.world.views('env-1')));
    },
    30_000,
  );
});

test('recovery: a worker that lost its lease cannot commit', async (context) => {
  const site = await Site.open(context, 1);
  const member = await site.fleet.add();
  await site.ingest(page(0, 'home'));
  await site.check();
  let taken: TakenLease | null = null;
  await until('the lease is taken', async () => {
    await site.store.client.hset(keys.owner(site.store.partitions.tag(0)), 'leaseUntilMs', 0);
    taken = await takeLease(site.store, 0, 'intruder', 60_000);
    return taken !== null;
  });
  const lease = taken as TakenLease | null;
  assert.ok(lease !== null);
  await fenceOlderOwners(site.store, lease);
  await site.ingest(page(0, 'changed'));
  await until('the worker has given up', () => member.worker.covered().size === 0);
  const [owner] = await readOwners(site.store);
  assert.deepEqual([owner?.epoch, owner?.checkpoint], [lease.epoch, lease.checkpoint]);
  const views = await storedViews(site.store, 'acme', 'env-1');
  assert.equal((views.get('src-cms:page:e0') as { title: string }).title, 'home');
});

test('recovery: a handle that is dropped and restored around a crash before the commit is claimed', async (context) => {
  const site = await Site.open(context, 1);
  const { store } = site;
  const withSlug = { ...page(0, 'home'), properties: { title: 'home', rank: 0, slug: 'welcome' } };
  const claimants = async () => {
    const scope = { tenant: 'acme', environmentId: 'env-1' };
    const [claims = []] = await readClaimFields(store, scope, [claimField.handle('welcome')]);
    return claims.map(({ view }) => view.originId);
  };
  const first = await site.fleet.add();
  await site.ingest(withSlug);
  await site.check();
  assert.deepEqual(await claimants(), ['e0']);
  await first.stop();

  await site.ingest(page(0, 'home'));
  const configuration = new ActiveConfiguration(store);
  await configuration.start();
  context.after(() => configuration.close());
  const lease = await takeLease(store, 0, 'crashes', 60_000);
  assert.ok(lease !== null);
  await fenceOlderOwners(store, lease);
  await processBatch(
    {
      store,
      lease,
      basis: { configuration: configuration.current, layouts: configuration.layouts },
      autoFields: new AutoFields(store),
      intents: await Intents.load(store, lease),
      namedFields: new NamedFields(),
      removedViews: new RemovedViews(store, lease.tag),
      claimsPerCommit: 0,
      nowMs: Date.now(),
      code: new CodeRuns(
        new Sandbox(),
        new CallMemory(codeOpenCharactersMax),
        () => {},
        () => {},
      ),
    },
    [{ tenant: 'acme', sourceId: 'src-cms', originId: 'e0', only: null, repair: null }],
  );
  assert.deepEqual(await claimants(), []);
  await releaseLease(store, lease);

  await site.ingest(withSlug);
  await site.fleet.add();
  await site.check();
  assert.deepEqual(await claimants(), ['e0']);
});

test('recovery: a worker that takes a partition uses the configuration that is active then', async (context) => {
  const site = await Site.open(context, 1);
  const store = await redis.openStore(1);
  const configuration = new ActiveConfiguration(store);
  await configuration.refresh();
  const documents = worldDocuments();
  const before = documents.get('tenants/acme/schemas/page.json') ?? '';
  documents.set('tenants/acme/schemas/page.json', before.replace('"{p.title}"', '"new {p.title}"'));
  await publishDocuments(site.store, documents);
  await site.ingest(page(0, 'home'));
  // It gets no notification: it has looked everything up itself.
  site.fleet.join(store, configuration);
  await until('the page is built', async () => (await storedViews(site.store, 'acme', 'env-1')).size > 0);
  const views = await storedViews(site.store, 'acme', 'env-1');
  assert.equal((views.get('src-cms:page:e0') as { title: string }).title, 'new home');
});

test('recovery: a partition that stops at any point holds no rebuild turn that blocks the others', async (context) => {
  const site = await Site.open(context, 1);
  const { store } = site;
  const configuration = new ActiveConfiguration(store);
  await configuration.start();
  context.after(() => configuration.close());
  const streams = openStreamSource(store);
  context.after(() => streams.close());
  const rebuildTurns = new Semaphore(1);
  const metrics = new WorkerMetrics();
  for (let round = 0; round < 15; round += 1) {
    const lease = await takeLease(store, 0, `worker-${round}`, 60_000);
    assert.ok(lease !== null);
    const actor = new PartitionActor(
      {
        store,
        streams,
        autoFields: new AutoFields(store),
        metrics,
        items: new RecordingSink(store),
        namesItems: false,
        rebuildTurns,
        schedulePortions: new SchedulePortions(),
        clockMs: Date.now,
        batchSlots: new Semaphore(1, 1000),
        changesRetentionMs: 60_000,
        claimsPerCommit: 100,
        sandbox: new Sandbox(),
        callMemory: new CallMemory(codeOpenCharactersMax),
        basis: () => {
          const { current, generation, layouts } = configuration;
          return { configuration: current, generation, layouts };
        },
        onError: (_, error) => assert.fail(String(error)),
      },
      lease,
    );
    const ended = actor.run();
    // Its list was just rebuilt and rests, while the next invalidation already waits.
    for (let number = 0; number < 4; number += 1) await site.ingest(page(number, `${round}.${number}`));
    for (let change = 0; ; change += 1) {
      await site.ingest(page(1, `${round} ${change}`));
      if (change > 5 && (await store.client.hlen(keys.pendingRebuilds(lease.tag))) > 0) break;
    }
    actor.stop();
    await ended;
    await store.client.hset(keys.owner(store.partitions.tag(0)), 'leaseUntilMs', 0);
    let granted = false;
    void rebuildTurns.acquire().then((release) => {
      granted = true;
      release();
    });
    await until(`the turn is free after round ${round}`, () => granted);
  }
  await site.fleet.add();
  await site.check();
});
