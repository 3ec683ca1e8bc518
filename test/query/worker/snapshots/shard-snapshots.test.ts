import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Configuration } from '../../../../src/config/configuration.ts';
import type { JsonObject } from '../../../../src/contract/json.ts';
import { ShardSet } from '../../../../src/query/worker/shard-set.ts';
import { ShardSnapshots } from '../../../../src/query/worker/snapshots/shard-snapshots.ts';
import { SnapshotFolder } from '../../../../src/query/worker/snapshots/snapshot-folder.ts';
import { encodeItem } from '../../../../src/store/derived/item-record.ts';
import { itemIndexField, type ScopedIndex } from '../../../../src/store/derived/items.ts';
import { AutoFields } from '../../../../src/store/entities/auto-fields.ts';
import { indexName, keys } from '../../../../src/store/keys.ts';
import { sourceField } from '../../../../src/store/scopes.ts';
import type { Store } from '../../../../src/store/store.ts';
import { queryOf } from '../../../search/support/checks.ts';
import { searchIn } from '../../../search/support/searches.ts';
import { TestRedis } from '../../../support/redis.ts';
import { until } from '../../../support/until.ts';
import { configurationOf, environment, type IndexFields, sourceId, tenantOf } from '../../support/site.ts';

const redis = await TestRedis.start();
const scope = { tenant: 'acme', environmentId: environment.id };
const things: ScopedIndex = { scope, index: indexName.schema('things') };
const others: ScopedIndex = { scope, index: indexName.schema('others') };
const site = (fields: IndexFields) => configurationOf(tenantOf({ things: fields }));
const plain = site({ name: 'keyword', title: 'text', size: 'integer' });
const partitions = 4;
const itemCount = 2_400;

/** A store with items, and a folder for the workers of a test. */
class Host {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'millrace-snapshots-'));
  readonly model = new Map<string, JsonObject>();
  readonly errors: string[] = [];
  /** Indexes with outdated snapshots, one list per notification. */
  readonly outdated: (readonly string[])[] = [];
  #workers = 0;
  readonly running = new Set<string>();

  private constructor(readonly store: Store) {
    redis.onEnd(async () => rmSync(this.folder, { recursive: true, force: true }));
  }

  static async start(): Promise<Host> {
    const host = new Host(await redis.openEmptyStore(partitions));
    await host.putAll('item', itemCount);
    return host;
  }

  async putAll(prefix: string, count: number, index = things): Promise<void> {
    const fields = (number: number) => ({
      name: `n${number % 7}`,
      title: `word ${prefix}${number}`,
      size: number,
    });
    const records = new Map<string, Map<string, Buffer>>();
    for (let number = 0; number < count; number += 1) {
      const originId = `${prefix}-${number}`;
      const key = this.#itemsKey(originId, index);
      const ofKey = records.get(key) ?? new Map<string, Buffer>();
      records.set(key, ofKey.set(originId, encodeItem({ updatedAtMs: 1, fields: fields(number) })));
      if (index === things) this.model.set(originId, fields(number));
    }
    await this.#register(this.store.partitions.tags, index);
    await Promise.all([...records].map(([key, ofKey]) => this.store.client.hset(key, ofKey)));
  }

  #itemsKey(originId: string, index: ScopedIndex): string {
    const tag = this.store.partitions.tag(this.partitionOf(originId));
    return keys.items(tag, scope.tenant, scope.environmentId, sourceId, index.index);
  }

  /** Lets workers find the items of an index in partitions. */
  async #register(tags: readonly string[], index: ScopedIndex): Promise<void> {
    await Promise.all(
      tags.flatMap((tag) => [
        this.store.client.hset(keys.itemIndexes(tag), itemIndexField(index), '1'),
        this.store.client.hset(keys.sources(tag), sourceField({ tenant: scope.tenant, sourceId }), '1'),
      ]),
    );
  }

  /** Writes an item only to Redis, as happens while a worker is down. */
  async put(originId: string, fields: JsonObject | null, index = things): Promise<void> {
    const key = this.#itemsKey(originId, index);
    await this.#register([this.store.partitions.tag(this.partitionOf(originId))], index);
    if (fields === null) {
      await this.store.client.hdel(key, originId);
      this.model.delete(originId);
      return;
    }
    await this.store.client.hset(key, originId, encodeItem({ updatedAtMs: 1, fields }));
    if (index === things) this.model.set(originId, fields);
  }

  partitionOf(originId: string): number {
    return this.store.partitions.ofEntity(sourceId, originId);
  }

  get files(): string[] {
    return readdirSync(this.folder).sort();
  }

  /** A worker that restores the snapshots that it finds and opens partitions. */
  async worker(opened: readonly number[], configuration: Configuration = plain): Promise<Worker> {
    this.#workers += 1;
    const worker = new Worker(this, `worker-${this.#workers}`, configuration);
    this.running.add(worker.id);
    await worker.snapshots.restore(worker.shards, configuration);
    await Promise.all(opened.map((partition) => worker.shards.open(partition, 1, 0)));
    await worker.settled();
    return worker;
  }
}

class Worker {
  readonly shards: ShardSet;
  readonly snapshots: ShardSnapshots;

  constructor(
    readonly host: Host,
    readonly id: string,
    configuration: Configuration,
  ) {
    const { store, folder, running, errors, outdated } = host;
    const autoFields = new AutoFields(store);
    const goneWorkers = async () => (worker: string) => !running.has(worker);
    this.shards = new ShardSet(store, autoFields, configuration);
    this.snapshots = new ShardSnapshots({
      store,
      autoFields,
      folder: new SnapshotFolder({ folder, secret: store.secret, workerId: id, set: 'owned', goneWorkers }),
      quietMs: 20,
      onOutdated: (indexes) => outdated.push([...indexes].sort()),
      onError: (message, error) => errors.push(`${message}: ${error}`),
    });
  }

  get live() {
    return this.shards.live(itemIndexField(things));
  }

  /** How many items it had to read again, because the snapshot did not have their current state. */
  get changeCount(): number {
    return this.live?.changeCount ?? 0;
  }

  /** Waits until the rest of the snapshot is removed. */
  async settled(): Promise<void> {
    await until('the shard can answer', () => this.live?.canAnswer ?? true);
  }

  async stop(): Promise<void> {
    this.shards.keepAll();
    for (const [partition] of [...this.shards.held]) this.shards.close(partition);
    await this.snapshots.close(this.shards, performance.now() + 10_000);
    this.host.running.delete(this.id);
  }

  /** Ends without notice. */
  async kill(): Promise<void> {
    await this.snapshots.close(this.shards, 0);
    this.host.running.delete(this.id);
  }

  /** It answers like a scan of the items of its partitions. */
  assertAnswers(): void {
    const { live, host } = this;
    const isMine = (originId: string) => this.shards.held.get(host.partitionOf(originId)) !== undefined;
    const mine = [...host.model].filter(([originId]) => isMine(originId));
    assert.equal(live?.canAnswer ?? true, true);
    assert.equal(live?.shard.size ?? 0, mine.length);
    const everything = { ...queryOf({ sort: [{ field: '_originId' }] }), pageSize: 10_000 };
    const rows = live?.shard.query(everything).rows ?? [];
    const sorted = mine.sort(([a], [b]) => (a < b ? -1 : 1));
    assert.deepEqual(
      rows.map(({ place, fieldsBytes }) => [place.originId, JSON.parse(fieldsBytes.toString())]),
      sorted,
    );
    for (const [originId, fields] of sorted) {
      const search = searchIn('title', String(fields.title), { literal: true, mode: 'all' });
      const found = live?.shard.query({ ...everything, pageSize: 10, search });
      assert.ok(found?.rows.some(({ place }) => place.originId === originId));
    }
  }
}

const all = [0, 1, 2, 3];

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('shard snapshots: a worker takes unchanged items from the snapshot, and reads the others', async () => {
  const host = await Host.start();
  const first = await host.worker(all);
  assert.equal(first.changeCount, itemCount);
  await first.stop();
  await host.put('item-1', { name: 'changed', title: 'changed word', size: 1 });
  await host.put('item-2', null);
  await host.put('new', { name: 'new', title: 'new word', size: 1 });
  const second = await host.worker(all);
  second.assertAnswers();
  // The changed one and the new one; items that no longer exist are removed.
  assert.equal(second.changeCount, 3);
  assert.deepEqual(host.errors, []);
  await second.stop();
  const third = await host.worker(all);
  third.assertAnswers();
  assert.equal(third.changeCount, 0);
  assert.equal(host.files.length, 1);
});

test('shard snapshots: partitions that moved meanwhile are dropped, or loaded', async () => {
  const host = await Host.start();
  const first = await host.worker([0, 1]);
  await first.stop();
  const second = await host.worker([1, 2]);
  second.assertAnswers();
  await second.shards.open(3, 1, 0);
  await second.settled();
  second.assertAnswers();
  second.shards.close(1);
  await second.settled();
  second.assertAnswers();
});

test('shard snapshots: no query is answered while items of the snapshot are unconfirmed', async () => {
  const host = await Host.start();
  await (await host.worker(all)).stop();
  const worker = await host.worker([]);
  assert.equal(worker.live ?? null, null);
  let isOpened = false;
  const opened = Promise.all(all.map((partition) => worker.shards.open(partition, 1, 0))).then(() => {
    isOpened = true;
  });
  let turns = 0;
  while (!isOpened) {
    await setImmediate();
    if (worker.live?.shard.hasUnconfirmed !== true) continue;
    turns += 1;
    assert.equal(worker.live.canAnswer, false);
  }
  await opened;
  assert.ok(turns > 0);
  await worker.settled();
  worker.assertAnswers();
});

test('shard snapshots: a worker takes over the file of a worker that is gone, and never that of a live one', async () => {
  const host = await Host.start();
  const [first, second] = [await host.worker([0, 1]), await host.worker([2, 3])];
  await first.stop();
  assert.equal(host.files.length, 1);
  await second.stop();
  const third = await host.worker([2, 3]);
  const fourth = await host.worker([0, 1]);
  assert.equal(third.changeCount, 0);
  assert.equal(fourth.changeCount, 0);
  assert.equal(host.files.length, 2);
  const fifth = await host.worker([2, 3]);
  fifth.assertAnswers();
  assert.ok(fifth.changeCount > 0, 'it found no file');
});

test('shard snapshots: each of two starting workers takes all files of one dead worker, and knows their partitions', async () => {
  const fields: IndexFields = { name: 'keyword', title: 'text', size: 'integer' };
  const site = configurationOf(tenantOf({ things: fields, others: fields }));
  const host = await Host.start();
  await host.putAll('other', itemCount, others);
  const former = await Promise.all([host.worker([0, 1], site), host.worker([2, 3], site)]);
  await Promise.all(former.map((worker) => worker.stop()));
  assert.equal(host.files.length, 4);
  const started = await Promise.all([host.worker([], site), host.worker([], site)]);
  const partitions = started.map(({ shards }) => [...shards.restoredPartitions].sort());
  assert.deepEqual(partitions.sort(), [
    [0, 1],
    [2, 3],
  ]);
  for (const { shards } of started)
    assert.ok([things, others].every((index) => shards.has(itemIndexField(index))));
});

test('shard snapshots: a partition that is closed does not wait for the loads of others, and leaves nothing unconfirmed', async () => {
  const host = await Host.start();
  await (await host.worker(all)).stop();
  const worker = await host.worker([]);
  const ended: number[] = [];
  const opened = [0, 1, 2].map(async (partition) => {
    await worker.shards.open(partition, 1, 0);
    ended.push(partition);
  });
  for (const partition of [1, 2]) worker.shards.close(partition);
  await Promise.all(opened);
  assert.deepEqual(ended, [1, 2, 0]);
  await worker.settled();
  worker.assertAnswers();
});

test('snapshot folder: files that a worker is reading are not taken over, unless it must have died', async () => {
  const host = await Host.start();
  const former = await Promise.all([host.worker([0, 1]), host.worker([2, 3])]);
  await Promise.all(former.map((worker) => worker.stop()));
  const { secret } = host.store;
  const goneWorkers = async () => () => true;
  const folderOf = (workerId: string) =>
    new SnapshotFolder({ folder: host.folder, secret, workerId, set: 'owned', goneWorkers });
  const index = itemIndexField(things);
  const sizes: number[] = [];
  const second = folderOf(`${hostname()}-${process.ppid}-b`);
  for (const folder of [folderOf(`${hostname()}-${process.pid}-a`), second, folderOf('other-host-1-c')])
    sizes.push((await folder.takeOver([index])).size);
  // The second could not take those of the first. The first has the number of this process, as after a restart in a container.
  assert.deepEqual(sizes, [1, 1, 1]);
  assert.equal(await second.othersAreReading(), true, 'the third');
  assert.equal((await folderOf('other-host-2-d').takeOver([index])).size, 0);
  await second.keep(index);
  assert.equal((await folderOf('other-host-2-d').takeOver([index])).size, 1);
});

test('shard snapshots: snapshots of indexes with other fields are reported once, and do no harm', async () => {
  const siteOf = (fields: IndexFields) => configurationOf(tenantOf({ things: fields, others: fields }));
  const host = await Host.start();
  await host.putAll('other', itemCount, others);
  await (await host.worker(all, siteOf({ name: 'keyword', title: 'text', size: 'integer' }))).stop();
  assert.equal(host.files.length, 2);
  const second = await host.worker(all, siteOf({ name: 'keyword', title: 'text', size: 'keyword' }));
  assert.deepEqual(host.outdated, [[itemIndexField(others), itemIndexField(things)]]);
  assert.deepEqual(host.errors, []);
  assert.deepEqual(host.files, []);
  assert.ok(second.changeCount > 0);
});

test('shard snapshots: a corrupt snapshot is deleted and logged, and nothing in it is used', async () => {
  const host = await Host.start();
  await (await host.worker(all)).stop();
  const file = path.join(host.folder, host.files[0] ?? '');
  const bytes = readFileSync(file);
  bytes[Math.floor(bytes.length / 2)] = 1 + (bytes[Math.floor(bytes.length / 2)] ?? 0);
  writeFileSync(file, bytes);
  const second = await host.worker(all);
  second.assertAnswers();
  assert.equal(host.errors.length, 1);
  assert.match(
    host.errors[0] ?? '',
    /is damaged or cannot be read: .* from Redis instead.*frame \d+ is damaged/,
  );
  assert.deepEqual(host.outdated, []);
  assert.deepEqual(host.files, []);
});

test('shard snapshots: an unreadable file is deleted, and affects only its own index', async () => {
  const fields: IndexFields = { name: 'keyword', title: 'text', size: 'integer' };
  const configuration = configurationOf(tenantOf({ things: fields, others: fields }));
  const host = await Host.start();
  await host.putAll('other', itemCount, others);
  await (await host.worker(all, configuration)).stop();
  const [name = ''] = host.files;
  rmSync(path.join(host.folder, name));
  mkdirSync(path.join(host.folder, name, 'something'), { recursive: true });
  const second = await host.worker(all, configuration);
  second.assertAnswers();
  const changeCounts = [things, others].map(
    (index) => second.shards.live(itemIndexField(index))?.changeCount,
  );
  assert.deepEqual(changeCounts.sort(), [0, itemCount]);
  assert.equal(host.errors.length, 1);
  assert.match(host.errors[0] ?? '', /is damaged or cannot be read.*EISDIR/);
  await second.stop();
  assert.equal(host.files.length, 2);
  assert.equal(host.errors.length, 1);
});

test('shard snapshots: partial files of a killed worker, and files of removed indexes, are deleted', async () => {
  const host = await Host.start();
  await (await host.worker(all)).stop();
  const [name = ''] = host.files;
  writeFileSync(path.join(host.folder, `${name}.part`), 'half');
  const other = name.replace(/[0-9a-f]{16}\./, `${'0'.repeat(16)}.`);
  writeFileSync(path.join(host.folder, other), 'of another index');
  writeFileSync(path.join(host.folder, 'anything'), 'of somebody else');
  const second = await host.worker(all);
  assert.equal(second.changeCount, 0);
  assert.deepEqual(host.files, ['anything', name.replace('worker-1', second.id)].sort());
});

test('shard snapshots: a running worker writes a snapshot when changes stop after many of them', async () => {
  const host = await Host.start();
  const first = await host.worker(all);
  first.snapshots.watch(first.shards);
  await host.putAll('more', 2_000);
  first.shards.close(0);
  await first.shards.open(0, 2, 0);
  for (const partition of [1, 2, 3]) await first.shards.open(partition, 2, 0);
  await until(
    'the file exists',
    () => host.files.length === 1 && host.files[0]?.endsWith('.snapshot') === true,
  );
  await first.kill();
  const second = await host.worker(all);
  assert.equal(second.changeCount, 0);
  second.assertAnswers();
});

test('shard snapshots: a removed index releases its memory', async () => {
  const host = await Host.start();
  const worker = await host.worker(all);
  worker.snapshots.watch(worker.shards);
  await until('the file exists', () => host.files.some((file) => file.endsWith('.snapshot')));
  assert.ok(worker.live !== null);
  const live = new WeakRef(worker.live);
  await worker.shards.reconfigure(configurationOf(tenantOf({})));
  await until('its file is gone', () => host.files.length === 0);
  await until('nobody has it', () => {
    collectGarbage();
    return live.deref() === undefined;
  });
  await worker.kill();
});

test('shard snapshots: an unusable folder is logged once, and has no other effect', async () => {
  const host = await Host.start();
  rmSync(host.folder, { recursive: true });
  writeFileSync(host.folder, 'a file');
  const worker = await host.worker(all);
  await worker.stop();
  assert.equal(host.errors.length, 1);
  assert.match(host.errors[0] ?? '', /^snapshots of the index shards cannot be written: Error: E/);
});

test('shard snapshots: a folder that is removed while a worker runs is created again', async () => {
  const host = await Host.start();
  const worker = await host.worker(all);
  rmSync(host.folder, { recursive: true });
  await worker.stop();
  assert.equal(host.files.length, 1);
  assert.deepEqual(host.errors, []);
});

test('shard snapshots: a full disk is logged once, and the previous file stays', async () => {
  const host = await Host.start();
  await (await host.worker(all)).stop();
  await host.put('new', { name: 'new', title: 'new word', size: 1 });
  const second = await host.worker(all);
  const [name = ''] = host.files;
  symlinkSync('/dev/full', path.join(host.folder, `${name}.part`));
  await second.stop();
  assert.equal(host.errors.length, 1);
  assert.match(host.errors[0] ?? '', /^snapshots of the index shards cannot be written: Error: ENOSPC/);
  assert.deepEqual(host.files, [name]);
  const third = await host.worker(all);
  third.assertAnswers();
  assert.equal(third.changeCount, 1);
});

test('shard snapshots: an index that is reconfigured while its snapshot is checked is rebuilt', async () => {
  const other = site({ name: 'text', title: 'text', size: 'long' });
  const host = await Host.start();
  await (await host.worker(all)).stop();
  const second = await host.worker([]);
  const opened = Promise.all(all.map((partition) => second.shards.open(partition, 1, 0)));
  await until('the snapshot is being checked', () => second.live?.shard.hasUnconfirmed === true);
  await Promise.all([opened, second.shards.reconfigure(other)]);
  await second.settled();
  second.assertAnswers();
  assert.equal(second.shards.followed, other.digest);
  await second.stop();
  const third = await host.worker(all, other);
  third.assertAnswers();
  assert.equal(third.changeCount, 0);
});

test('shard snapshots: an index with few items has no file, and one that has become small loses its file', async () => {
  const host = await Host.start();
  const first = await host.worker(all);
  await first.stop();
  assert.equal(host.files.length, 1);
  const originIds = [...host.model.keys()].slice(0, 2_000);
  await Promise.all(originIds.map((originId) => host.put(originId, null)));
  const second = await host.worker(all);
  second.assertAnswers();
  await second.stop();
  assert.deepEqual(host.files, []);
});
