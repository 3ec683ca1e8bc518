import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { formatViewId } from '../../../src/contract/ids.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { readEntities } from '../../../src/store/entities/entities.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { runs } from '../../support/runs.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { entityOf } from '../support/data/entities.ts';
import { Ledger, untilVisible } from '../support/ledger.ts';
import type { ConfigFiles } from '../support/processes/system.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';
import { differencesFoundByVerify } from '../support/verify.ts';

/** `MILLRACE_ENTITIES=5000`: enough for a partition to be read in several scans. */
const entityCount = Number(process.env.MILLRACE_ENTITIES ?? 240);
const entitiesPerSave = 50;
/** A rebuild pauses for most of its duration, and longer on a busy machine. */
const rebuildMs = 60_000 + 60 * entityCount;
const writers = 4;

/** @param version identifies the schema that built a view */
function filesOf(version: number): ConfigFiles {
  return siteFiles({
    schemas: {
      whole: {
        triggers: { cms: ['a', 'b'] },
        route: { url: '{url}', handles: ['{originId}'] },
        properties: {
          type: '{type}',
          url: '{url}',
          parent: '{originParentId}',
          redirects: { type: 'array', input: '{redirects}' },
          properties: { type: 'object', properties: { '*': 'properties' } },
          version: { type: 'number', value: version },
          children: {
            type: 'array',
            input: { $lookup: { filter: 'originParentId eq {originId}' } },
            items: '{item.originId}',
          },
        },
      },
    },
    indexes: {
      things: {
        triggers: { cms: ['a', 'b'] },
        properties: { type: '{type}', count: { type: 'number', value: '{p.count}' } },
        index: { fields: { type: { type: 'keyword' }, count: { type: 'long' } } },
      },
    },
  });
}

const random = Random.forTest('crash');
let system: System;
let ledger: Ledger;
let clients: Client[];
let version = 1;

before(async () => {
  system = await System.start({ web: 2, workers: 2, jobs: 1, partitions: 8, files: filesOf(version) });
  ledger = new Ledger({ key: sourceKey, sourceId });
  clients = system.fronts.map((name) => system.client(name));
  for (let number = 0; number < entityCount; number += entitiesPerSave) {
    const numbers = Array.from(
      { length: Math.min(entitiesPerSave, entityCount - number) },
      (_, at) => number + at,
    );
    assert.ok(await ledger.save(client(), numbers.map(randomEntity)));
  }
});
after(() => system.stop());

let counter = 0;
function randomEntity(number: number): SourceEntity {
  counter += 1;
  return entityOf(
    `e${number}`,
    random.pick(['a', 'b']),
    { count: counter, text: 'x'.repeat(random.below(2_000)) },
    {
      url: random.chance(0.8) ? `/e/${number}` : null,
      originParentId: random.chance(0.5) ? `e${random.below(20)}` : null,
      redirects: random.chance(0.2) ? [`/old/${number}`] : [],
    },
  );
}

class Ingest {
  #isRunning = true;
  readonly #work = Array.from({ length: writers }, (_, writer) => this.#write(writer));

  /** Each writer has its own entities and one front, and retries while that front is down. */
  async #write(writer: number): Promise<void> {
    const own = Array.from({ length: entityCount }, (_, number) => number).filter(
      (n) => n % writers === writer,
    );
    const client = clients[writer % clients.length];
    while (this.#isRunning && client !== undefined) {
      const numbers = random.shuffled(own).slice(0, random.between(1, 10));
      const deleted = numbers.slice(0, 4).map((number) => `e${number}`);
      if (random.chance(0.85)) await ledger.save(client, numbers.map(randomEntity));
      else await ledger.delete(client, deleted);
      await sleep(50);
    }
  }

  async end(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#work);
  }
}

/** With `everysec` Redis delays writes while a sync is in progress, so that a kill loses them. */
const redisOptions =
  process.env.APPEND_FSYNC === 'everysec'
    ? { skip: 'power-cut.test.ts measures what everysec loses' }
    : oneRedisOnly;

for (const role of ['web', 'worker', 'jobs', 'redis']) {
  test(
    `crash: after a SIGKILL of ${role} during ingest nothing acknowledged is lost and nothing else exists`,
    role === 'redis' ? redisOptions : {},
    async (context) => {
      for (let round = 0; round < runs(1); round += 1) {
        const name = role === 'redis' ? role : `${role}.${role === 'jobs' ? 1 : random.between(1, 2)}`;
        const ingest = new Ingest();
        const { answered } = ledger;
        let generation: number | null = null;
        try {
          await until('ingest has started', () => ledger.answered > answered + 20);
          if (role === 'jobs') {
            version += 1;
            generation = await system.publish(filesOf(version));
          }
          await sleep(random.below(1_000));
          await system.kill(name);
          await sleep(random.below(1_000));
          await system.restart(name);
          const { answered: before_ } = ledger;
          await until('ingest continues', () => ledger.answered > before_ + 40);
        } finally {
          await ingest.end();
        }
        await system.ready();
        if (generation !== null) await system.rebuilt(generation, rebuildMs);
        const versions = ledger.takeVersions();
        for (const client of clients) await untilVisible(client, clientKey, versions.slice(-40));
        await waitUntilSettled(await system.store());
        await checkEverything();
        context.diagnostic(
          `${name}: ${ledger.answered} writes answered, ${ledger.unanswered} not, seed ${random.seed}`,
        );
      }
    },
  );
}

async function checkEverything(): Promise<void> {
  const originIds = ledger.originIds;
  const stored = await readEntities(
    await system.store(),
    'acme',
    originIds.map((originId) => ({ sourceId, originId })),
  );
  const children = new Map<string, string[]>();
  for (const entity of stored) {
    const parent = entity?.originParentId ?? '';
    if (entity) children.set(parent, [...(children.get(parent) ?? []), entity.originId]);
  }
  for (const [index, client] of clients.entries()) {
    const shown = await allShown(client, originIds);
    for (const [at, originId] of originIds.entries()) {
      const entity = stored[at] ?? null;
      const state = entity === null ? null : sourceEntityOf(entity);
      const about = `${originId} at front ${index + 1}, seed ${random.seed}`;
      assert.ok(
        ledger.possible(originId).some((one) => isDeepStrictEqual(one, state)),
        `${about}: stored is ${JSON.stringify(state)}, possible ${JSON.stringify(ledger.possible(originId))}`,
      );
      const view =
        state === null ? undefined : { ...viewOf(state), children: (children.get(originId) ?? []).sort() };
      const item = state === null ? undefined : { type: state.type, count: state.properties.count };
      assert.deepEqual(shown.byId.get(originId), view, `${about}, by id`);
      assert.deepEqual(shown.byHandle.get(originId), view, `${about}, by handle`);
      assert.deepEqual(shown.items.get(originId), item, `${about}, queried`);
      if (state === null || state.url === null) continue;
      const { json } = await client.get(`/v2?url=${state.url}`, { key: clientKey });
      assert.deepEqual(json.route, view, `${about}, by URL`);
    }
    assert.equal(shown.items.size, stored.filter((entity) => entity !== null).length, 'no item but those');
  }
  for (const [at, originId] of originIds.entries()) {
    const entity = stored[at] ?? null;
    ledger.found(originId, entity === null ? null : sourceEntityOf(entity));
  }
  const there = [...ledger.entities().values()];
  const urls = there.flatMap(({ url, redirects }) => (url === null ? [] : [url, ...redirects]));
  assert.deepEqual(await allRoutes(), urls.sort(), 'no routes but those');
  assert.deepEqual(await differencesFoundByVerify(system), []);
}

function sourceEntityOf({
  originId,
  type,
  url,
  originParentId,
  redirects,
  properties,
}: SourceEntity): SourceEntity {
  return { originId, type, url, originParentId, redirects: [...redirects], properties };
}

function viewOf({ type, url, originParentId, redirects, properties }: SourceEntity): object {
  return { type, url, parent: originParentId, redirects, properties, version };
}

function viewId(originId: string): string {
  return formatViewId({ environmentId, sourceId, originId, alias: 'whole' });
}

interface Shown {
  readonly byId: ReadonlyMap<string, object>;
  readonly byHandle: ReadonlyMap<string, object>;
  readonly items: ReadonlyMap<string, object>;
}

/** All views and items of these entities that a front returns, by originId. */
async function allShown(client: Client, originIds: readonly string[]): Promise<Shown> {
  const [byId, byHandle] = [new Map<string, object>(), new Map<string, object>()];
  for (let at = 0; at < originIds.length; at += 500) {
    const handles = originIds.slice(at, at + 500);
    const ids = handles.map(viewId);
    const { json } = await client.post(
      '/v2?includeDuplicateViews=true',
      { ids, handles },
      { key: clientKey },
    );
    for (const handle of handles) {
      if (Object.hasOwn(json.views, viewId(handle))) byId.set(handle, json.views[viewId(handle)]);
      if (Object.hasOwn(json.views, handle)) byHandle.set(handle, json.views[handle]);
    }
  }
  return { byId, byHandle, items: await allItems(client) };
}

async function allItems(client: Client): Promise<Map<string, object>> {
  const items = new Map<string, object>();
  let nextPageToken: string | null = null;
  do {
    const pagination: JsonObject = { pageSize: 1000, ...(nextPageToken === null ? {} : { nextPageToken }) };
    const { json } = await client.post('/v1/things', { pagination }, { key: clientKey });
    for (const { _originId, _sourceGuid, _updatedAt, _score, ...fields } of json.results)
      items.set(_originId, fields);
    nextPageToken = json.nextPageToken;
    if (nextPageToken === null) assert.equal(items.size, json.totalResults);
  } while (nextPageToken !== null);
  return items;
}

async function allRoutes(): Promise<string[]> {
  const urls: string[] = [];
  let token = '';
  for (;;) {
    const { json } = await client().get(`/routes/v2?continuationToken=${encodeURIComponent(token)}`, {
      key: clientKey,
    });
    urls.push(...json.results.map(({ url }: { url: string }) => url));
    if (json.continuationToken === null) return urls;
    token = json.continuationToken;
  }
}

function client(): Client {
  const [first] = clients;
  assert.ok(first);
  return first;
}
