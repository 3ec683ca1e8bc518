/**
 * The actor runtime in one process with a real Redis: random changes by several writers, with workers that start, stop and
 * crash during their work. When nothing is in progress, the store must equal a naive recomputation. `MILLRACE_SEED=…` repeats a
 * run's choices; `MILLRACE_RUNS` makes it longer.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { SourceEntity } from '../../src/contract/entity.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import type { Claim } from '../../src/store/claims/claim-records.ts';
import { formatDependent } from '../../src/store/derived/dependents.ts';
import { acceptEntities } from '../../src/store/entities/accept.ts';
import { removeEntities } from '../../src/store/entities/entities.ts';
import { encodeEntity } from '../../src/store/entities/entity-record.ts';
import { keys } from '../../src/store/keys.ts';
import { invalidate, outsideCaller } from '../../src/store/partitions/intake.ts';
import type { Store } from '../../src/store/store.ts';
import { Progress } from '../../src/store/visibility/progress.ts';
import { Dice } from '../support/dice.ts';
import { TestRedis } from '../support/redis.ts';
import { runs } from '../support/runs.ts';
import { until } from '../support/until.ts';
import { Fleet, publishDocuments, storedItems } from './support/fleet.ts';
import {
  dump,
  expectedEntries,
  madeParts,
  storedClaims,
  storedEntries,
  storedRoutes,
  storedViews,
  tenantsOf,
} from './support/stored.ts';
import {
  environmentIds,
  environmentsOf,
  type SourceId,
  sourceIds,
  World,
  worldDocuments,
} from './support/world.ts';

const redis = await TestRedis.start();
const tenants = ['acme', 'other'] as const;

class Stage {
  readonly worlds = new Map(tenants.map((tenant) => [tenant, new World()]));
  readonly progress: Progress;
  readonly fleet: Fleet;
  /** Per tenant: what must be visible before anything is compared. */
  readonly #versions = new Map<string, Map<number, number>>(tenants.map((tenant) => [tenant, new Map()]));

  constructor(
    readonly store: Store,
    readonly dice: Dice,
  ) {
    this.progress = new Progress(store);
    this.progress.start();
    this.fleet = new Fleet(redis, store);
  }

  static async set(context: TestContext, partitionCount: number): Promise<Stage> {
    const seed = Number(process.env.MILLRACE_SEED ?? randomInt(2 ** 31));
    context.diagnostic(`MILLRACE_SEED=${seed}`);
    const store = await redis.openEmptyStore(partitionCount);
    await publishDocuments(store, worldDocuments());
    const stage = new Stage(store, new Dice(seed));
    context.after(async () => {
      stage.progress.close();
      await stage.fleet.stop();
    });
    return stage;
  }

  #note(tenant: string, version: ReadonlyMap<number, number>): void {
    const noted = this.#versions.get(tenant);
    for (const [partition, sequence] of version) {
      noted?.set(partition, Math.max(sequence, noted.get(partition) ?? 0));
    }
  }

  randomEntity(sourceId: SourceId): SourceEntity {
    const { dice } = this;
    const originId = `e${dice.below(25)}`;
    const properties: JsonObject = {};
    if (dice.chance(90)) properties.title = `T${dice.below(30)}`;
    if (dice.chance(70)) properties.rank = dice.below(10);
    if (dice.chance(50)) properties.slug = `slug-${dice.below(8)}`;
    if (dice.chance(50)) properties.topic = `topic-${dice.below(4)}`;
    if (dice.chance(60)) properties.tags = [`topic-${dice.below(4)}`, `topic-${dice.below(4)}`];
    if (sourceId !== 'src-cms') properties.page = `e${dice.below(25)}`;
    return {
      originId,
      type: sourceId === 'src-cms' ? dice.of(['page', 'page', 'page', 'note', 'other']) : 'product',
      url: dice.chance(70) ? `/u${dice.below(20)}` : null,
      originParentId: dice.chance(70) ? `e${dice.below(25)}` : null,
      redirects: dice.chance(30) ? [`/u${dice.below(20)}`, `/r${dice.below(10)}`] : [],
      properties,
    };
  }

  /** One request of one client: a bulk of some entities, or a delete. */
  async change(): Promise<void> {
    const { dice, store } = this;
    const tenant = dice.of(tenants);
    const world = this.worlds.get(tenant);
    const sourceId = dice.of<SourceId>(['src-cms', 'src-cms', ...sourceIds]);
    const entities = world?.of(sourceId);
    if (entities === undefined) return;
    if (dice.chance(20)) {
      const originIds = [`e${dice.below(25)}`, `e${dice.below(25)}`];
      const { removed, version } = await removeEntities(store, { tenant, sourceId, originIds });
      originIds.forEach((originId, index) => {
        // The second of two equal ids finds it deleted.
        const repeated = originIds.indexOf(originId) !== index;
        assert.equal(removed[index], entities.has(originId) && !repeated);
      });
      for (const originId of originIds) entities.delete(originId);
      this.#note(tenant, version);
      return;
    }
    const force = dice.chance(50);
    const sent = Array.from({ length: 1 + dice.below(4) }, () => this.randomEntity(sourceId));
    const { outcomes, version } = await acceptEntities(store, {
      tenant,
      sourceId,
      force,
      entities: sent.map(encodeEntity),
    });
    sent.forEach((entity, index) => {
      const known = entities.get(entity.originId);
      const conflicts = known !== undefined && known.type !== entity.type && !force;
      assert.equal(outcomes[index] === 'typeConflict', conflicts);
      if (!conflicts) entities.set(entity.originId, entity);
    });
    this.#note(tenant, version);
  }

  async changes(count: number): Promise<void> {
    for (let change = 0; change < count; change += 1) await this.change();
  }

  /** Waits, like a request with `X-Service-Min-Version`, for everything that was written. */
  async visible(): Promise<void> {
    for (const [tenant, version] of this.#versions) {
      assert.ok(await this.progress.waitFor(tenant, version, 60_000), `${tenant} does not become visible`);
    }
  }

  async check(): Promise<void> {
    for (const tenant of tenants) await this.#checkTenant(tenant);
    assert.deepEqual(
      await storedEntries(this.store),
      await expectedEntries(this.store, tenantsOf(worldDocuments())),
    );
    await this.#checkNothingWaits();
    await this.#checkSinks();
    assert.deepEqual(this.fleet.errors, []);
  }

  async #checkTenant(tenant: (typeof tenants)[number]): Promise<void> {
    const world = this.worlds.get(tenant);
    assert.ok(world !== undefined);
    for (const environmentId of environmentIds) {
      const place = `${tenant} ${environmentId}`;
      const views = await storedViews(this.store, tenant, environmentId);
      assert.deepEqual(sorted(views), sorted(world.views(environmentId)), `views of ${place}`);
      const items = await storedItems(this.store, { tenant, environmentId }, 'pages');
      const fields = new Map([...items].map(([originId, item]) => [originId, item.fields]));
      assert.deepEqual(sorted(fields), sorted(world.pageItems()), `items of ${place}`);
      await this.#checkClaims(tenant, environmentId, world);
    }
  }

  async #checkClaims(
    tenant: string,
    environmentId: (typeof environmentIds)[number],
    world: World,
  ): Promise<void> {
    const stored = await storedClaims(this.store, tenant, environmentId);
    const lines: string[] = [];
    const served: string[] = [];
    for (const [field, claims] of stored) {
      for (const { kind, view, display, redirect } of claims) {
        lines.push(`${field} ${kind} ${view.alias} ${view.originId} ${display} ${redirect ?? '-'}`);
      }
      const rank = ({ kind, sinceStamp, view }: Claim) => [
        kind === 'page' ? 0 : 1,
        -sinceStamp,
        view.alias,
        view.sourceId,
        view.originId,
      ];
      const order = [...claims].sort((a, b) => (compare(rank(a), rank(b)) ? -1 : 1));
      assert.deepEqual(claims, order, `order of ${field}`);
      if (field.startsWith('u:')) served.push(claims[0]?.display ?? '');
    }
    const expected = world.claims(environmentId);
    assert.deepEqual(lines.sort(), expected, `claims of ${tenant} ${environmentId}`);
    assert.deepEqual(await storedRoutes(this.store, tenant, environmentId), served.sort());
  }

  async #checkNothingWaits(): Promise<void> {
    for (const tag of this.store.partitions.tags) {
      // Another tenant's rebuilds may still rest.
      await until(
        'no rebuild waits',
        async () => (await this.store.client.hlen(keys.pendingRebuilds(tag))) === 0,
      );
      assert.deepEqual(await this.store.client.hkeys(keys.intents(tag)), []);
    }
  }

  /** The workers' shards have what Redis has. */
  async #checkSinks(): Promise<void> {
    const inRedis = (await dump(this.store, ['items'])).values();
    const count = [...inRedis].reduce((sum, lines) => sum + (lines === '' ? 0 : lines.split('\n').length), 0);
    await until('every partition is open and equals Redis', () => {
      const counts = [...this.store.partitions.tags.keys()].map((partition) => {
        const sizes = [...this.fleet.members].map(({ sink }) => sink.items(partition)?.size ?? 0);
        return Math.max(0, ...sizes);
      });
      return counts.reduce((sum, size) => sum + size, 0) === count;
    });
  }

  /** Requests a rebuild of everything. */
  async rebuildAll(): Promise<void> {
    for (const tenant of tenants) {
      for (const sourceId of sourceIds) {
        for (const [partition, tag] of this.store.partitions.tags.entries()) {
          const originIds = await this.store.client.hkeys(keys.entities(tag, tenant, sourceId));
          const members = originIds.map((originId) =>
            formatDependent({ kind: 'entity', environmentId: '', name: '', sourceId, originId }),
          );
          if (members.length === 0) continue;
          const sequence = await invalidate(this.store, outsideCaller, partition, tenant, members);
          this.#note(tenant, new Map([[partition, sequence]]));
        }
      }
    }
    await this.visible();
    await this.#checkNothingWaits();
  }
}

function compare(a: readonly (string | number | false)[], b: readonly (string | number | false)[]): boolean {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? '';
    if (value !== other) return value < other;
  }
  return false;
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

test('runtime: one worker builds from random changes what a naive recomputation builds', async (context) => {
  const stage = await Stage.set(context, 4);
  await stage.fleet.add();
  for (let round = 0; round < runs(4); round += 1) {
    await stage.changes(40);
    await stage.visible();
    await stage.check();
  }
});

test('runtime: workers that start, stop and crash during their work leave no trace in the outputs', async (context) => {
  const stage = await Stage.set(context, 5);
  const { dice, fleet } = stage;
  await fleet.add();
  await fleet.add();
  for (let round = 0; round < runs(4); round += 1) {
    const changes = stage.changes(50);
    for (let event = 0; event < 3; event += 1) {
      await setTimeout(dice.below(60));
      const [member] = [...fleet.members].slice(dice.below(fleet.members.size));
      if (dice.chance(60) && member !== undefined) await member.crash();
      else if (dice.chance(30) && fleet.members.size > 1) await member?.stop();
      if (fleet.members.size < 3) await fleet.add();
      await fleet.expireLeases();
    }
    await changes;
    await stage.visible();
    await stage.check();
  }
});

test('runtime: rebuilding everything reproduces the store byte for byte', async (context) => {
  const stage = await Stage.set(context, 4);
  await stage.fleet.add();
  await stage.fleet.add();
  await stage.changes(120);
  await stage.visible();
  await stage.check();
  const before = await dump(stage.store);
  await stage.rebuildAll();
  assert.deepEqual(await dump(stage.store), before);
});

test('runtime: views, items and lookup entries built only from the entities have the same bytes', async (context) => {
  const stage = await Stage.set(context, 4);
  const first = await stage.fleet.add();
  await stage.changes(120);
  await stage.visible();
  await stage.check();
  const before = await dump(stage.store, ['views', 'items', 'lookup']);
  await first.stop();
  const deleted = new Set<string>([...madeParts, 'dependents', 'directory', 'leaf', 'lengths']);
  for (const key of await stage.store.client.keys('*')) {
    if (deleted.has(key.split(':')[1] ?? '')) await stage.store.client.del(key);
  }
  await stage.fleet.add();
  await stage.rebuildAll();
  await stage.check();
  assert.deepEqual(await dump(stage.store, ['views', 'items', 'lookup']), before);
});

test('runtime: the outputs do not depend on the number of partitions or workers', async (context) => {
  const results: Map<string, unknown>[] = [];
  const seed = randomInt(2 ** 31);
  context.diagnostic(`seed of the layouts: ${seed}`);
  for (const [partitions, workers] of [
    [1, 1],
    [7, 3],
  ] as const) {
    const store = await redis.openEmptyStore(partitions);
    await publishDocuments(store, worldDocuments());
    const stage = new Stage(store, new Dice(seed));
    for (let worker = 0; worker < workers; worker += 1) await stage.fleet.add();
    await stage.changes(100);
    await stage.visible();
    await stage.check();
    results.push(new Map(sorted(await storedViews(store, 'acme', 'env-1'))));
    stage.progress.close();
    await stage.fleet.stop();
  }
  assert.deepEqual(results[1], results[0]);
});

test('runtime: entities of a source have outputs only in the environments of the source', () => {
  assert.deepEqual(sourceIds.map(environmentsOf), [['env-1', 'env-2'], ['env-1'], ['env-2']]);
});
