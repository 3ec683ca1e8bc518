import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/contract/json.ts';
import { ShardSet } from '../../../src/query/worker/shard-set.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import { encodeItem } from '../../../src/store/derived/item-record.ts';
import { type ItemChange, itemIndexField, type ScopedIndex } from '../../../src/store/derived/items.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { indexName, keys } from '../../../src/store/keys.ts';
import { sourceField } from '../../../src/store/scopes.ts';
import type { Store } from '../../../src/store/store.ts';
import { searchIn } from '../../search/support/searches.ts';
import { TestRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';
import { until } from '../../support/until.ts';
import { configurationOf, environment, type IndexFields, sourceId, tenantOf } from '../support/site.ts';

const redis = await TestRedis.start();
const runCount = runs(12);
const scope = { tenant: 'acme', environmentId: environment.id };
const things: ScopedIndex = { scope, index: indexName.schema('things') };
const site = (indexes: Record<string, IndexFields>) => configurationOf(tenantOf(indexes));
const plain = site({ things: { name: 'keyword', title: 'text', size: 'integer' } });

const everything: CheckedQuery = {
  filter: null,
  search: null,
  facets: [],
  sort: [{ field: '_originId', order: 'asc' }],
  offset: 0,
  pageSize: 100_000,
  after: null,
  fields: null,
  highlight: null,
  distinct: null,
};

function stateOf(shards: ShardSet, index = things, query = everything): Map<string, string> {
  const rows = shards.live(itemIndexField(index))?.shard.query(query).rows ?? [];
  return new Map(rows.map(({ place, fieldsBytes }) => [place.originId, fieldsBytes.toString()]));
}

function textsOf(model: ReadonlyMap<string, JsonObject>): Map<string, string> {
  const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(sorted.map(([originId, fields]) => [originId, JSON.stringify(fields)]));
}

/** Writes the items of a partition as its owner does: first to Redis, then to the shards. */
class Owner {
  readonly model = new Map<string, JsonObject>();
  commits = 0;

  constructor(
    readonly store: Store,
    readonly partition = 0,
    readonly index = things,
  ) {}

  async put(changes: ReadonlyMap<string, JsonObject | null>): Promise<ItemChange[]> {
    const tag = this.store.partitions.tag(this.partition);
    const key = keys.items(tag, scope.tenant, scope.environmentId, sourceId, this.index.index);
    const pipeline = this.store.client.multi();
    pipeline.hset(keys.itemIndexes(tag), itemIndexField(this.index), '1');
    pipeline.hset(keys.sources(tag), sourceField({ tenant: scope.tenant, sourceId }), '1');
    const applied: ItemChange[] = [];
    for (const [originId, fields] of changes) {
      const item = fields && { sourceId, originId, updatedAtMs: this.commits, fields };
      if (item === null) pipeline.hdel(key, originId);
      else pipeline.hset(key, originId, encodeItem(item));
      applied.push({ ...this.index, sourceId, originId, item });
      if (fields === null) this.model.delete(originId);
      else this.model.set(originId, fields);
    }
    await pipeline.exec();
    this.commits += 1;
    return applied;
  }

  async write(shards: ShardSet, changes: ReadonlyMap<string, JsonObject | null>): Promise<void> {
    const applied = await this.put(changes);
    shards.apply(this.partition, this.commits, applied);
  }
}

function numbered(prefix: string, count: number, round = 0): Map<string, JsonObject> {
  const fields = (number: number) => ({ name: `n${number}`, title: `word ${number}`, size: number + round });
  return new Map(Array.from({ length: count }, (_, number) => [`${prefix}${number}`, fields(number)]));
}

test('shard set: has exactly the last state after a load with concurrent changes', async () => {
  const change = fc.record({
    /** Of about 600 items. */
    at: fc.nat({ max: 650 }),
    size: fc.option(fc.nat({ max: 9 })),
  });
  const batches = fc.array(fc.array(change, { minLength: 1, maxLength: 20 }), {
    minLength: 1,
    maxLength: 25,
  });
  await fc.assert(
    fc.asyncProperty(batches, fc.nat({ max: 3 }), async (rounds, turnsBetween) => {
      const store = await redis.openEmptyStore(1);
      const owner = new Owner(store);
      await owner.put(numbered('item-', 600));
      const shards = new ShardSet(store, new AutoFields(store), plain);
      let isOpen = false;
      const opened = shards.open(0, 1, owner.commits).then(() => {
        isOpen = true;
      });
      for (const round of rounds) {
        const changes = round.map(({ at, size }) => [`item-${at}`, size === null ? null : { size }] as const);
        await owner.write(shards, new Map(changes));
        for (let turn = 0; turn < turnsBetween; turn += 1) await setImmediate();
      }
      await opened;
      assert.equal(isOpen, true);
      assert.deepEqual(stateOf(shards), textsOf(owner.model));
      assert.equal(shards.held.applied(0), owner.commits);
      await store.close();
    }),
    { numRuns: runCount },
  );
});

test('shard set: reports the progress of a partition that loads, and answers from the others', async () => {
  const store = await redis.openEmptyStore(2);
  const [small, large] = [new Owner(store, 0), new Owner(store, 1)];
  await small.put(numbered('small-', 10));
  await large.put(numbered('large-', 8000));
  const shards = new ShardSet(store, new AutoFields(store), plain);
  await shards.open(0, 1, small.commits);
  let isLoading = true;
  const opened = shards.open(1, 1, large.commits).finally(() => {
    isLoading = false;
  });
  const progress: number[] = [];
  let answers = 0;
  while (isLoading) {
    assert.ok((shards.live(itemIndexField(things))?.shard.size ?? 0) >= 10);
    answers += 1;
    assert.equal(shards.held.applied(1), null);
    const [load] = shards.held.loading;
    if (load !== undefined && load.total > 0) progress.push(load.done / load.total);
    await setImmediate();
  }
  await opened;
  assert.ok(answers > 1, `${answers} answers`);
  assert.ok(progress.length > 0);
  assert.deepEqual(
    progress,
    [...progress].sort((a, b) => a - b),
  );
  assert.deepEqual(shards.held.loading, []);
  assert.equal(stateOf(shards).size, 8010);
});

test('shard set: summarizes what many partitions wait for in one line', async () => {
  const store = await redis.openEmptyStore(16);
  const shards = new ShardSet(store, new AutoFields(store), plain);
  const opened = Promise.all(Array.from({ length: 16 }, (_, partition) => shards.open(partition, 1, 0)));
  assert.deepEqual(shards.held.waitingFor, ['index items of partition 0: 0 of 0, then those of 15 more']);
  await opened;
  assert.deepEqual(shards.held.waitingFor, []);
});

test('shard set: a partition closed while it loads leaves no items, and can be reopened immediately', async () => {
  const store = await redis.openEmptyStore(1);
  const owner = new Owner(store);
  await owner.put(numbered('item-', 3000));
  const shards = new ShardSet(store, new AutoFields(store), plain);
  const first = shards.open(0, 1, owner.commits);
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  shards.close(0);
  const second = shards.open(0, 2, owner.commits);
  await owner.write(shards, new Map([['item-0', null]]));
  await Promise.all([first, second]);
  assert.deepEqual(
    [...shards.held].map(([partition, { epoch }]) => [partition, epoch]),
    [[0, 2]],
  );
  assert.deepEqual(stateOf(shards), textsOf(owner.model));
  shards.close(0);
  await until('its items are gone', () => stateOf(shards).size === 0);
  await first;
  assert.deepEqual([...shards.held], []);
});

test('shard set: closing a partition keeps the items of the others', async () => {
  const store = await redis.openEmptyStore(2);
  const owners = [new Owner(store, 0), new Owner(store, 1)];
  const shards = new ShardSet(store, new AutoFields(store), plain);
  for (const [partition, owner] of owners.entries()) {
    await owner.put(numbered(`p${partition}-`, 100));
    await shards.open(partition, 1, owner.commits);
  }
  shards.close(0);
  assert.deepEqual(stateOf(shards), textsOf(owners[1]?.model ?? new Map()));
});

test('shard set: reindexes a field with a changed type while the previous index answers', async () => {
  const store = await redis.openEmptyStore(1);
  const owner = new Owner(store);
  await owner.put(numbered('item-', 3000));
  const shards = new ShardSet(store, new AutoFields(store), plain);
  await shards.open(0, 1, owner.commits);
  const byTitle = { ...everything, search: searchIn('title', 'word', { literal: true }) };
  const byName = { ...everything, search: searchIn('name', 'n7', { literal: true }) };
  let isRebuilding = true;
  const rebuilt = shards
    .reconfigure(site({ things: { name: 'text', title: 'keyword', size: 'integer' } }))
    .finally(() => {
      isRebuilding = false;
    });
  let round = 0;
  while (isRebuilding) {
    round += 1;
    await owner.write(shards, new Map([[`item-${round}`, { name: `changed${round}` }]]));
    if (isRebuilding) assert.ok(stateOf(shards, things, byTitle).size >= 3000 - round);
  }
  await rebuilt;
  assert.ok(round > 2);
  assert.deepEqual(stateOf(shards), textsOf(owner.model));
  assert.equal(stateOf(shards, things, byTitle).size, 0);
  const expected = [...owner.model].filter(([, { name }]) => name === 'n7').map(([originId]) => originId);
  assert.deepEqual([...stateOf(shards, things, byName).keys()], expected);
});

test('shard set: omits values that do not fit the changed type of their field', async () => {
  const store = await redis.openEmptyStore(1);
  const owner = new Owner(store);
  await owner.put(new Map([['a', { name: 'text', size: 1 }]]));
  const shards = new ShardSet(store, new AutoFields(store), plain);
  await shards.open(0, 1, owner.commits);
  await shards.reconfigure(site({ things: { name: 'integer', size: 'integer' } }));
  assert.deepEqual([...stateOf(shards)], [['a', '{"size":1}']]);
});

test('shard set: drops an index removed from the configuration, and loads one that returns', async () => {
  const store = await redis.openEmptyStore(1);
  const owner = new Owner(store);
  await owner.put(numbered('item-', 10));
  const shards = new ShardSet(store, new AutoFields(store), plain);
  await shards.open(0, 1, owner.commits);
  await shards.reconfigure(site({}));
  assert.equal(shards.live(itemIndexField(things)), null);
  await owner.write(shards, numbered('more-', 5));
  assert.equal(shards.live(itemIndexField(things)), null);
  await shards.reconfigure(plain);
  assert.deepEqual(stateOf(shards), textsOf(owner.model));
});

test('shard set: knows auto-indexed fields that another process or a later change has added', async () => {
  const store = await redis.openEmptyStore(1);
  const elsewhere = new AutoFields(store);
  const auto: ScopedIndex = { scope, index: indexName.auto('cms', 'page') };
  const owner = new Owner(store, 0, auto);
  await elsewhere.decide('acme', sourceId, 'page', new Map([['title', 'keywordText']]));
  await owner.put(new Map([['a', { title: 'river mill' }]]));
  const own = new AutoFields(store);
  const shards = new ShardSet(store, own, plain);
  await shards.open(0, 1, owner.commits);
  const search = { ...everything, search: searchIn('title', 'mill', { literal: true }) };
  assert.deepEqual([...stateOf(shards, auto, search).keys()], ['a']);
  await own.decide('acme', sourceId, 'page', new Map([['intro', 'keywordText']]));
  await owner.write(shards, new Map([['b', { intro: 'mill' }]]));
  const byIntro = { ...everything, search: searchIn('intro', 'mill', { literal: true }) };
  assert.deepEqual([...stateOf(shards, auto, byIntro).keys()], ['b']);
});
