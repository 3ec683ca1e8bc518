/** Which outputs are rebuilt when an entity changes: one test for each way in which a lookup's result can change. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { SourceEntity } from '../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import { acceptEntities } from '../../src/store/entities/accept.ts';
import { removeEntities } from '../../src/store/entities/entities.ts';
import { encodeEntity } from '../../src/store/entities/entity-record.ts';
import { keys } from '../../src/store/keys.ts';
import { liveProcesses } from '../../src/store/processes/registry.ts';
import type { Store } from '../../src/store/store.ts';
import { Progress } from '../../src/store/visibility/progress.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { Fleet, publishDocuments, storedItems } from './support/fleet.ts';
import { storedViews } from './support/stored.ts';

const redis = await TestRedis.start();
const tenant = 'acme';
const environmentId = 'env-1';

type SourceId = 'src-cms' | 'src-shop';

interface Files {
  readonly schemas: Readonly<Record<string, JsonObject>>;
  readonly partials?: Readonly<Record<string, JsonObject>>;
  readonly indexes?: Readonly<Record<string, JsonObject>>;
}

function documentsOf(files: Files): Map<string, string> {
  const source = (id: SourceId) => ({ id, name: id, environments: ['production'], apiKeys: [id] });
  const documents = new Map<string, string>();
  const put = (name: string, json: Json) => documents.set(`tenants/${tenant}/${name}`, JSON.stringify(json));
  put('tenant.json', {
    environments: [{ id: environmentId, alias: 'production' }],
    sourceGroups: [
      { alias: 'cms', sources: [source('src-cms')] },
      { alias: 'shop', sources: [source('src-shop')] },
    ],
    domains: [{ alias: 'site', hostnames: ['*'] }],
    environmentClients: [{ name: 'site', environment: 'production', domains: ['site'], apiKeys: ['client'] }],
  });
  for (const folder of ['schemas', 'partials', 'indexes'] as const) {
    for (const [alias, json] of Object.entries(files[folder] ?? {})) put(`${folder}/${alias}.json`, json);
  }
  return documents;
}

class Site {
  readonly #progress: Progress;
  readonly #version = new Map<number, number>();

  private constructor(
    readonly store: Store,
    private readonly fleet: Fleet,
  ) {
    this.#progress = new Progress(store);
    this.#progress.start();
  }

  static async open(context: TestContext, files: Files): Promise<Site> {
    const store = await redis.openEmptyStore(5);
    await publishDocuments(store, documentsOf(files));
    const fleet = new Fleet(redis, store);
    const site = new Site(store, fleet);
    context.after(async () => {
      site.#progress.close();
      await fleet.stop();
    });
    await fleet.add();
    await fleet.add();
    return site;
  }

  /** Activates another configuration; no job rebuilds what it changes. */
  async configure(files: Files): Promise<void> {
    const generation = await publishDocuments(this.store, documentsOf(files));
    await until('all workers run it', async () => {
      const workers = await liveProcesses(this.store);
      return workers.every((worker) => worker.generation === generation);
    });
  }

  /** Saves, and waits like a request with `X-Service-Min-Version`. */
  async save(
    entities: readonly SourceEntity[],
    sourceId: SourceId = 'src-cms',
    force = false,
  ): Promise<void> {
    const request = { tenant, sourceId, force, entities: entities.map(encodeEntity) };
    await this.#visible((await acceptEntities(this.store, request)).version);
  }

  async remove(originIds: readonly string[], sourceId: SourceId = 'src-cms'): Promise<void> {
    await this.#visible((await removeEntities(this.store, { tenant, sourceId, originIds })).version);
  }

  async #visible(version: ReadonlyMap<number, number>): Promise<void> {
    for (const [partition, sequence] of version) {
      this.#version.set(partition, Math.max(sequence, this.#version.get(partition) ?? 0));
    }
    assert.ok(await this.#progress.waitFor(tenant, this.#version, 20_000), 'it becomes visible');
    assert.deepEqual(this.fleet.errors, []);
  }

  async view(alias: string, originId: string, sourceId: SourceId = 'src-cms'): Promise<Json | undefined> {
    return (await storedViews(this.store, tenant, environmentId)).get(`${sourceId}:${alias}:${originId}`);
  }

  /** Number of stream entries ever added: one for each write of a partition, and one for each portion of invalidations. */
  async streamEntries(): Promise<number> {
    const { client, partitions } = this.store;
    const ends = await Promise.all(partitions.tags.map((tag) => client.hget(keys.clock(tag), 'stream')));
    return ends.reduce((sum, end) => sum + Number(end ?? 0), 0);
  }

  /** Views and items that were rebuilt for a dependency. */
  async rebuilds(): Promise<number> {
    const counts = await Promise.all(
      [...this.fleet.members].map(({ worker }) => worker.metrics.rebuilds.get()),
    );
    return counts.flatMap(({ values }) => values).reduce((sum, { value }) => sum + value, 0);
  }
}

function entity(
  originId: string,
  type: string,
  properties: JsonObject,
  originParentId: string | null = null,
): SourceEntity {
  return { originId, type, url: null, originParentId, redirects: [], properties };
}

const childrenLookup = {
  operator: 'equals',
  sourceEntityProperty: 'originParentId',
  matchValue: '{originId}',
  sourceEntityType: 'child',
};
const family: Files = {
  schemas: {
    parent: {
      triggers: { cms: ['parent'] },
      properties: { children: { type: 'array', input: { $lookup: childrenLookup }, items: '{item.p.name}' } },
    },
  },
};
const child = (originId: string, name: string, parent: string | null) =>
  entity(originId, 'child', { name }, parent);

async function children(site: Site, parent: string): Promise<Json | undefined> {
  const view = await site.view('parent', parent);
  return view === undefined ? undefined : ((view as JsonObject).children ?? null);
}

test('dependencies: a list follows entities that are added, changed and removed', async (context) => {
  const site = await Site.open(context, family);
  await site.save([entity('p', 'parent', {}), child('a', 'A', 'p')]);
  assert.deepEqual(await children(site, 'p'), ['A']);
  await site.save([child('b', 'B', 'p')]);
  assert.deepEqual(await children(site, 'p'), ['A', 'B']);
  await site.save([child('a', 'A2', 'p')]);
  assert.deepEqual(await children(site, 'p'), ['A2', 'B']);
  await site.save([child('a', 'A2', null)]);
  assert.deepEqual(await children(site, 'p'), ['B']);
});

test('dependencies: a list follows entities that are deleted and created again', async (context) => {
  const site = await Site.open(context, family);
  await site.save([entity('p', 'parent', {}), child('a', 'A', 'p'), child('b', 'B', 'p')]);
  await site.remove(['a']);
  assert.deepEqual(await children(site, 'p'), ['B']);
  await site.save([child('a', 'A again', 'p')]);
  assert.deepEqual(await children(site, 'p'), ['A again', 'B']);
});

test('dependencies: an entity with a forced type change leaves the lists of the old type and joins those of the new one', async (context) => {
  const site = await Site.open(context, {
    schemas: {
      ...family.schemas,
      pets: {
        triggers: { cms: ['parent'] },
        properties: {
          pets: {
            type: 'array',
            input: { $lookup: { filter: "originParentId eq {originId} and type eq 'pet'" } },
            items: '{item.p.name}',
          },
        },
      },
    },
  });
  await site.save([entity('p', 'parent', {}), child('a', 'A', 'p')]);
  await site.save([entity('a', 'pet', { name: 'A' }, 'p')], 'src-cms', true);
  assert.deepEqual(await children(site, 'p'), []);
  assert.deepEqual(await site.view('pets', 'p'), { pets: ['A'] });
  await site.save([entity('p', 'child', { name: 'P' })], 'src-cms', true);
  assert.equal(await site.view('parent', 'p'), undefined);
  await site.save([child('b', 'B', 'p')]);
  assert.equal(await site.view('parent', 'p'), undefined);
});

test('dependencies: an entity that moves to another parent leaves one list and joins the other', async (context) => {
  const site = await Site.open(context, family);
  await site.save([entity('p', 'parent', {}), entity('q', 'parent', {}), child('a', 'A', 'p')]);
  await site.save([child('a', 'A', 'q')]);
  assert.deepEqual(await children(site, 'p'), []);
  assert.deepEqual(await children(site, 'q'), ['A']);
});

test('dependencies: it does not matter whether an entity is saved before or after those that look it up', async (context) => {
  const site = await Site.open(context, family);
  await site.save([child('a', 'A', 'p')]);
  await site.save([entity('p', 'parent', {})]);
  assert.deepEqual(await children(site, 'p'), ['A']);
  await site.save([entity('q', 'parent', {})]);
  await site.save([child('b', 'B', 'q')]);
  assert.deepEqual(await children(site, 'q'), ['B']);
});

test('dependencies: a list over another source group follows that group, and no entity of the same name elsewhere', async (context) => {
  const site = await Site.open(context, {
    schemas: {
      page: {
        triggers: { cms: ['page'] },
        properties: {
          products: {
            type: 'array',
            input: { $lookup: { filter: 'properties.page eq {originId}', source: 'shop' } },
            items: '{item.p.name}',
          },
        },
      },
    },
  });
  await site.save([entity('p', 'page', {})]);
  await site.save([entity('a', 'product', { name: 'A', page: 'p' })], 'src-shop');
  assert.deepEqual(await site.view('page', 'p'), { products: ['A'] });
  const before = await site.streamEntries();
  await site.save([entity('a', 'product', { name: 'not A', page: 'p' })]);
  assert.deepEqual(await site.view('page', 'p'), { products: ['A'] });
  assert.equal(await site.streamEntries(), before + 1, 'a write and no invalidation');
  await site.remove(['a'], 'src-shop');
  assert.deepEqual(await site.view('page', 'p'), { products: [] });
});

test('dependencies: a lookup inside the items of a lookup is tracked, and dropped with its item', async (context) => {
  const nested = {
    type: 'array',
    input: { $lookup: { ...childrenLookup, sourceEntityType: 'parent' } },
    items: {
      type: 'object',
      properties: {
        id: '{item.originId}',
        children: {
          type: 'array',
          var: 'child',
          input: { $lookup: { ...childrenLookup, matchValue: '{item.originId}' } },
          items: '{child.p.name}',
        },
      },
    },
  };
  const site = await Site.open(context, {
    schemas: { grand: { triggers: { cms: ['grand'] }, properties: { parents: nested } } },
  });
  await site.save([entity('g', 'grand', {}), entity('p', 'parent', {}, 'g')]);
  await site.save([child('a', 'A', 'p')]);
  assert.deepEqual(await site.view('grand', 'g'), { parents: [{ id: 'p', children: ['A'] }] });
  await site.save([child('a', 'A2', 'p')]);
  assert.deepEqual(await site.view('grand', 'g'), { parents: [{ id: 'p', children: ['A2'] }] });
  await site.save([entity('p', 'parent', {})]);
  assert.deepEqual(await site.view('grand', 'g'), { parents: [] });
  const before = await site.streamEntries();
  await site.save([child('a', 'A3', 'p')]);
  assert.equal(await site.streamEntries(), before + 1, 'nothing looks it up anymore');
});

test('dependencies: lookups in nested partials are tracked, at any depth', async (context) => {
  const depth = 28;
  const site = await Site.open(context, {
    schemas: {
      tree: {
        triggers: { cms: ['node'] },
        properties: { tree: { type: 'partial', input: '{root}', alias: 'node' } },
      },
    },
    partials: {
      node: {
        properties: {
          name: '{p.name}',
          below: {
            type: 'array',
            input: { $lookup: { ...childrenLookup, sourceEntityType: 'node' } },
            items: { type: 'partial', input: '{item}', alias: 'node' },
          },
        },
      },
    },
  });
  const node = (level: number, name: string) =>
    entity(`n${level}`, 'node', { name }, level === 0 ? null : `n${level - 1}`);
  await site.save(Array.from({ length: depth }, (_, level) => node(level, `N${level}`)));
  const treeFrom = (level: number, last: string): Json =>
    level === depth - 1
      ? { name: last, below: [] }
      : { name: `N${level}`, below: [treeFrom(level + 1, last)] };
  assert.deepEqual(await site.view('tree', 'n0'), { tree: treeFrom(0, `N${depth - 1}`) });
  await site.save([node(depth - 1, 'leaf')]);
  for (const level of [0, 10, depth - 1]) {
    assert.deepEqual(await site.view('tree', `n${level}`), { tree: treeFrom(level, 'leaf') });
  }
});

test('dependencies: an index item follows what its lookups match', async (context) => {
  const site = await Site.open(context, {
    schemas: {},
    indexes: {
      parents: {
        triggers: { cms: ['parent'] },
        properties: { names: { type: 'array', input: { $lookup: childrenLookup }, items: '{item.p.name}' } },
        index: { fields: { names: { type: 'keyword[]' } } },
      },
    },
  });
  await site.save([entity('p', 'parent', {})]);
  await site.save([child('a', 'A', 'p')]);
  const items = await storedItems(site.store, { tenant, environmentId }, 'parents');
  assert.deepEqual(items.get('p')?.fields, { names: ['A'] });
});

test('dependencies: a view that should be rebuilt but no longer has a schema is removed', async (context) => {
  const site = await Site.open(context, family);
  await site.save([entity('p', 'parent', {}), child('a', 'A', 'p')]);
  await site.configure({ schemas: {} });
  await site.save([child('b', 'B', 'p')]);
  assert.equal(await site.view('parent', 'p'), undefined, 'it would never learn of a missed change');
});

test('dependencies: a rebuild causes no other rebuild, even if the rebuilt views look each other up', async (context) => {
  // Each shows the previous one: a change of the first changes the view of the second, and lookups read entities.
  const chain = 12;
  const site = await Site.open(context, {
    schemas: {
      link: {
        triggers: { cms: ['link'] },
        properties: {
          name: '{p.name}',
          before: {
            type: 'array',
            input: { $lookup: { filter: 'originId eq {p.before}' } },
            items: '{item.p.name}',
          },
        },
      },
    },
  });
  const link = (number: number, name: string) =>
    // The first shows the last: a circle.
    entity(`l${number}`, 'link', { name, before: `l${(number + chain - 1) % chain}` });
  for (let number = 0; number < chain; number += 1) await site.save([link(number, `L${number}`)]);
  const [entries, rebuilds] = [await site.streamEntries(), await site.rebuilds()];
  const changes = 5;
  for (let change = 0; change < changes; change += 1) {
    await site.save([link(0, `changed ${change}`)]);
    assert.deepEqual(await site.view('link', 'l1'), { name: 'L1', before: [`changed ${change}`] });
  }
  // A worker counts after the reply to its commit, which others may see earlier.
  await until('the one that shows it is rebuilt once for each change', async () => {
    return (await site.rebuilds()) === rebuilds + changes;
  });
  assert.equal(await site.streamEntries(), entries + 2 * changes, 'a write and one invalidation each');
});
