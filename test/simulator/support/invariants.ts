/** What must hold of the store, and of the workers' memory, when nothing is left to do. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Worker } from '../../../src/actors/worker.ts';
import { readEntities } from '../../../src/store/entities.ts';
import { listItemIndexes, scanItems } from '../../../src/store/items.ts';
import { keys } from '../../../src/store/keys.ts';
import { readPartitionStates } from '../../../src/store/partition-state.ts';
import type { Store } from '../../../src/store/store.ts';
import { nameOf, type RecordingSink, storedItems } from '../../actors/support/fleet.ts';
import {
  expectedEntries,
  storedClaims,
  storedEntries,
  storedRoutes,
  storedViews,
  tenantsOf,
} from '../../actors/support/stored.ts';
import { sourceIds, type World } from '../../actors/support/world.ts';
import { documents, environmentId, isMade, tenant } from './site.ts';

interface Member {
  readonly worker: Pick<Worker, 'covered'>;
  readonly sink: RecordingSink;
}

/** @throws AssertionError */
export async function checkStore(store: Store, world: World): Promise<void> {
  await checkEntities(store, world);
  const views = await storedViews(store, tenant, environmentId);
  const expected = new Map([...world.views(environmentId)].filter(([key]) => isMade(key)));
  assert.deepEqual(sorted(views), sorted(expected), 'views');
  const items = await storedItems(store, { tenant, environmentId }, 'pages');
  const fields = new Map([...items].map(([originId, item]) => [originId, item.fields]));
  assert.deepEqual(sorted(fields), sorted(world.pageItems()), 'items');
  await checkClaims(store, world);
  assert.deepEqual(await storedEntries(store), await expectedEntries(store, tenantsOf(documents)), 'lookups');
  await checkNothingWaits(store);
}

/** Promise 2: everything that was acknowledged is there as it was sent last, and nothing else. */
async function checkEntities(store: Store, world: World): Promise<void> {
  for (const sourceId of sourceIds) {
    const known = new Map<string, string>();
    for (const tag of store.partitions.tags) {
      for (const originId of await store.client.hkeys(keys.meta(tag, tenant, sourceId)))
        known.set(originId, tag);
    }
    const sent = world.of(sourceId);
    assert.deepEqual([...known.keys()].sort(), [...sent.keys()].sort(), `entities of ${sourceId}`);
    const refs = [...sent.keys()].map((originId) => ({ sourceId, originId }));
    for (const [index, stored] of (await readEntities(store, tenant, refs)).entries()) {
      const { originId } = refs[index] ?? { originId: '' };
      const { properties, url, type } = sent.get(originId) ?? {};
      assert.deepEqual(
        { properties: stored?.properties, url: stored?.url, type: stored?.type },
        { properties, url, type },
        originId,
      );
    }
  }
}

async function checkClaims(store: Store, world: World): Promise<void> {
  const stored = await storedClaims(store, tenant, environmentId);
  const lines: string[] = [];
  const served: string[] = [];
  for (const [field, claims] of stored) {
    for (const [, kind, , , alias, originId, display, redirect] of claims) {
      const word = kind === 0 ? 'page' : 'redirect';
      lines.push(`${field} ${word} ${alias} ${originId} ${display} ${redirect === false ? '-' : redirect}`);
    }
    if (field.startsWith('u:')) served.push(claims[0]?.[6] ?? '');
  }
  assert.deepEqual(lines.sort(), world.claims(environmentId), 'claims');
  assert.deepEqual(await storedRoutes(store, tenant, environmentId), served.sort(), 'routes');
}

async function checkNothingWaits(store: Store): Promise<void> {
  for (const [partition, state] of (await readPartitionStates(store)).entries()) {
    assert.equal(state.checkpoint, state.end, `partition ${partition} is done`);
    assert.equal(state.waiting, 0, `rebuilds that wait in partition ${partition}`);
    const intents = keys.intents(store.partitions.tag(partition));
    assert.deepEqual(await store.client.hkeys(intents), [], `intents of partition ${partition}`);
  }
}

/**
 * Partitions that nobody serves, or whose shard in memory is not what Redis holds. Ownership may be on the move: then
 * it is to be looked at again.
 */
export async function memoryDifferences(store: Store, members: readonly Member[]): Promise<string[]> {
  const differences: string[] = [];
  for (const partition of store.partitions.tags.keys()) {
    const serving = members.filter(({ worker }) => worker.covered().has(partition));
    const inRedis: string[] = [];
    for (const { scope, index } of await listItemIndexes(store, partition)) {
      for await (const portion of scanItems(store, partition, scope, index)) {
        inRedis.push(...portion.map((item) => nameOf(scope, index, item)));
      }
    }
    const [member] = serving;
    if (member === undefined || serving.length > 1) {
      differences.push(`partition ${partition} is served by ${serving.length} workers`);
      continue;
    }
    const inMemory = [...(member.sink.items(partition)?.keys() ?? [])];
    if (!isDeepStrictEqual(inMemory.sort(), inRedis.sort())) {
      differences.push(`partition ${partition} has ${inRedis} and its worker ${inMemory}`);
    }
  }
  return differences;
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
