/**
 * A worker that starts from a snapshot answers like one that reads every item, whatever changed while it was down and however it
 * stopped.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { snapshotItemsMin } from '../../../src/contract/limits.ts';
import { readOwners } from '../../../src/store/ownership/owners.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { runCommand } from '../../cli/support/command.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { type ConfigFiles, System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, siteFiles, sourceKey } from '../support/site.ts';

const random = Random.forTest('snapshots');
const words = ['river', 'mill', 'wheel', 'stone', 'bridge', 'water'];
/**
 * Number of items by shard copies. With one copy, a worker is killed while it writes, so its snapshots must be larger. A copy
 * may lag when its worker is stopped, and must have enough items for a snapshot even then.
 */
const itemCounts: ReadonlyMap<number, number> = new Map([
  [1, 3 * snapshotItemsMin],
  [2, 2 * snapshotItemsMin],
]);
const entitiesPerSave = 50;
const killsMax = 20;
const size: Json = { type: 'number', value: '{p.size}' };
const files = filesWith({});
/** The same site with another index field, so that all shards are rebuilt. */
const otherFiles = filesWith({ again: size });

function filesWith(more: Readonly<Record<string, Json>>): ConfigFiles {
  const fields = Object.fromEntries(Object.keys(more).map((name) => [name, { type: 'long' }]));
  return siteFiles({
    indexes: {
      things: {
        triggers: { cms: ['thing'] },
        properties: { text: '{p.text}', size, ...more },
        index: { fields: { text: { type: 'text' }, size: { type: 'long' }, ...fields } },
      },
    },
  });
}

/** A platform with two workers, and the content of each item. */
class Site {
  readonly #model = new Map<string, { readonly text: string; readonly size: number }>();
  readonly #client: Client;
  #changes = 0;

  private constructor(readonly system: System) {
    this.#client = system.client();
  }

  static async start(copies: number): Promise<Site> {
    const env = { SHARD_COPIES: String(copies) };
    // Only the tests with one copy change the configuration.
    const system = await System.start({ workers: 2, jobs: copies === 1 ? 1 : 0, partitions: 8, files, env });
    const site = new Site(system);
    const length = itemCounts.get(copies) ?? 0;
    await site.#save(Array.from({ length }, (_, number) => `item-${number}`));
    await site.settled();
    return site;
  }

  get snapshots(): string[] {
    const { snapshotDir } = this.system;
    return existsSync(snapshotDir) ? readdirSync(snapshotDir) : [];
  }

  get isWriting(): boolean {
    return this.snapshots.some((name) => name.endsWith('.part'));
  }

  /** Changes some items, removes some, and adds some. */
  async change(): Promise<void> {
    this.#changes += 1;
    const known = random.shuffled([...this.#model.keys()]);
    for (const originId of known.splice(0, 20)) await this.#remove(originId);
    await this.#save(known.slice(0, 300));
    await this.#save(Array.from({ length: 100 }, (_, number) => `added-${this.#changes}-${number}`));
  }

  /** Removes the tenant from the configuration, purges its data, and adds it again with other items. */
  async purge(): Promise<void> {
    await this.system.apply(siteFiles({ tenant: 'other', keyPrefix: 'other-' }));
    const purged = await runCommand('purge', ['--yes'], { env: this.system.environment() });
    assert.equal(purged.code, 0, purged.stderr);
    this.#model.clear();
    await this.system.apply(files);
    await this.#save(Array.from({ length: 200 }, (_, number) => `item-${2 * number}`));
  }

  /** Waits until both workers have partitions and everything is visible. */
  async settled(): Promise<void> {
    const store = await this.system.store();
    await until('both workers have partitions', async () => {
      const owners = await readOwners(store);
      return new Set(owners.map(({ workerId }) => workerId)).size === 2;
    });
    await this.system.ready();
    await waitUntilSettled(store);
  }

  /** The partitions of each worker as strings, in an order that does not depend on the workers. */
  async ownedPartitions(): Promise<string[]> {
    const owned = new Map<string | null, number[]>();
    for (const [partition, { workerId }] of (await readOwners(await this.system.store())).entries())
      owned.set(workerId, [...(owned.get(workerId) ?? []), partition]);
    return [...owned.values()].map((partitions) => partitions.join(' ')).sort();
  }

  /** Search results must equal those of a scan of all items. */
  async assertAnswers(): Promise<void> {
    for (const word of words) {
      const expected = [...this.#model]
        .filter(([, { text }]) => text.split(' ').includes(word))
        .sort(([a, { size: sizeA }], [b, { size: sizeB }]) => sizeA - sizeB || (a < b ? -1 : 1));
      const body = {
        search: { field: 'text', value: word, fuzziness: 0 },
        sort: [{ field: 'size' }],
        pagination: { pageSize: 500 },
      };
      const { status, json, text } = await this.#client.post('/v1/things', body, { key: clientKey });
      assert.equal(status, 200, text);
      const { totalResults, results } = json as { totalResults: number; results: JsonObject[] };
      assert.equal(totalResults, expected.length);
      assert.deepEqual(
        results.map(({ _originId, text: found, size }) => [_originId, { text: found, size }]),
        expected.slice(0, 500),
      );
    }
  }

  async #save(originIds: readonly string[]): Promise<void> {
    for (let at = 0; at < originIds.length; at += entitiesPerSave) {
      const entities = originIds.slice(at, at + entitiesPerSave).map((originId) => {
        const properties = {
          text: `${random.pick(words)} ${random.pick(words)}`,
          size: random.below(1000),
        };
        this.#model.set(originId, properties);
        return { originId, type: 'thing', properties };
      });
      const { status, text } = await this.#client.post('/ingest/v2', entities, { key: sourceKey });
      assert.equal(status, 200, text);
    }
  }

  async #remove(originId: string): Promise<void> {
    this.#model.delete(originId);
    const { status, text } = await this.#client.delete(`/ingest/v2/${originId}`, { key: sourceKey });
    assert.equal(status, 200, text);
  }
}

const sites = new Map<number, Promise<Site>>();

after(async () => {
  for (const site of sites.values()) await (await site).system.stop();
});

function siteWith(copies: number): Promise<Site> {
  const site = sites.get(copies) ?? Site.start(copies);
  sites.set(copies, site);
  return site;
}

for (const copies of [1, 2]) {
  test(`snapshots: a worker that was stopped and started again answers like a scan of all items, with ${copies} shard copies`, async () => {
    const site = await siteWith(copies);
    const { system } = site;
    // With one copy, the tests below restart it again.
    for (let round = 0; round < copies; round += 1) {
      await system.kill('worker.1', 'SIGTERM');
      assert.ok(site.snapshots.some((name) => name.endsWith('.snapshot')));
      await site.change();
      await waitUntilSettled(await system.store());
      await system.restart('worker.1');
      await site.settled();
      await site.assertAnswers();
      await until('it took from a snapshot', () =>
        system.process('worker.1').outputOfThisLife.includes('a snapshot was read'),
      );
    }
  });
}

test('snapshots: entities saved while all workers are stopped are found after their restart', async () => {
  const site = await siteWith(1);
  const { system } = site;
  for (const name of system.workers) await system.kill(name, 'SIGTERM');
  await site.change();
  for (const name of system.workers) await system.restart(name);
  await site.settled();
  await site.assertAnswers();
});

test('snapshots: two workers that start together each read the snapshot of a stopped one, and own its partitions', async () => {
  const site = await siteWith(1);
  const { system } = site;
  await site.settled();
  const before = await site.ownedPartitions();
  await Promise.all(system.workers.map((name) => system.kill(name, 'SIGTERM')));
  await Promise.all(system.workers.map((name) => system.restart(name)));
  await site.settled();
  assert.deepEqual(await site.ownedPartitions(), before);
  for (const name of system.workers)
    assert.match(system.process(name).outputOfThisLife, /a snapshot was read/);
  await site.assertAnswers();
});

test('snapshots: an index that is reconfigured while a worker is down, and while one starts, answers like a scan', async () => {
  const site = await siteWith(1);
  const { system } = site;
  await system.kill('worker.1', 'SIGTERM');
  await system.apply(otherFiles);
  await system.restart('worker.1');
  await site.settled();
  await site.assertAnswers();
  await system.kill('worker.1', 'SIGTERM');
  const [generation] = await Promise.all([system.publish(files), system.restart('worker.1')]);
  await system.rebuilt(generation);
  await site.settled();
  await site.assertAnswers();
});

test('snapshots: a worker that is killed while it writes a snapshot answers like a scan after its restart', async () => {
  const site = await siteWith(1);
  const { system } = site;
  let wasWriting = false;
  for (let kills = 0; kills < killsMax && !wasWriting; kills += 1) {
    await site.change();
    await site.settled();
    const ended = system.kill('worker.1', 'SIGTERM');
    while (system.process('worker.1').isRunning && !site.isWriting) await setImmediate();
    await Promise.all([ended, system.kill('worker.1', 'SIGKILL')]);
    wasWriting = site.isWriting;
    await system.restart('worker.1');
    await site.settled();
    await site.assertAnswers();
    await until('the partly written snapshot is removed', () => !site.isWriting);
  }
  assert.ok(wasWriting, 'it was killed while it wrote');
});

test('snapshots: purged items do not return from the snapshot of a worker that was down', async () => {
  const site = await siteWith(1);
  const { system } = site;
  await system.kill('worker.1', 'SIGTERM');
  assert.ok(site.snapshots.some((name) => name.endsWith('.snapshot')));
  await site.purge();
  await waitUntilSettled(await system.store());
  await system.restart('worker.1');
  await site.settled();
  await site.assertAnswers();
});
