import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeferredOutput } from '../../../src/actors/batch/batch-changes.ts';
import type { Turn } from '../../../src/actors/batch/turn.ts';
import { DeferredOutputs } from '../../../src/actors/rebuild/deferred-outputs.ts';
import { formatDependent } from '../../../src/store/derived/dependents.ts';
import { keys } from '../../../src/store/keys.ts';
import { takeLease } from '../../../src/store/ownership/lease.ts';
import { commit, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import type { DeferredFor } from '../../../src/store/partitions/pending-work.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();

function viewOf(originId: string): string {
  return formatDependent({ kind: 'view', environmentId: 'env', name: 'page', sourceId: 's', originId });
}

function actionsOf(originId: string): string {
  return formatDependent({ kind: 'actions', environmentId: 'env', name: 'page', sourceId: 's', originId });
}

function deferred(dependent: string, reason: DeferredFor = 'code', tenant = 'acme'): DeferredOutput {
  return { tenant, dependent, reason, isAwaited: true, cause: { sourceId: 's', originId: 'a' } };
}

/** A turn for all outputs of an unchanged entity, or for some of them. */
function turnOf(originId: string, parts: Partial<Turn> = {}): Turn {
  return {
    tenant: 'acme',
    sourceId: 's',
    originId,
    place: null,
    layouts: [],
    urlForm: 'exact',
    former: null,
    indexEntries: [],
    only: null,
    actions: new Set<string>(),
    repair: null,
    isUncertain: false,
    causes: new Map(),
    isChange: false,
    state: 'published',
    isBySchedule: false,
    moments: [],
    entity: { originId } as Turn['entity'],
    ...parts,
  };
}

function scene(tag = '{x}') {
  const open = new Map<string, boolean>();
  const full = new Set<string>();
  const calls = {
    isOpen: (name: string) => open.has(name),
    isAnswered: (name: string) => open.get(name) === true,
    hasRoom: (tenant: string) => !full.has(tenant),
    forget: (name: string) => void open.delete(name),
  };
  const outputs = new DeferredOutputs(tag, calls);
  const settle = (turns: readonly Turn[], list: readonly DeferredOutput[], from: number, taken = noneTaken) =>
    outputs.settle(turns, list, from, taken, new PartitionWrites());
  return { open, full, outputs, settle };
}

const noneTaken: Parameters<DeferredOutputs['settle']>[3] = [];
const names = (taken: readonly { dependent: string }[]) => taken.map(({ dependent }) => dependent);

const announcement = { checkpoint: 9, pendingRebuilds: new Map(), downstream: [], digests: Buffer.alloc(0) };

test('deferred outputs: versions wait for the first of each tenant, until a turn has built it', () => {
  const { outputs, settle } = scene();
  settle([turnOf('a')], [deferred(viewOf('a'))], 7);
  settle([turnOf('b')], [deferred(viewOf('b')), deferred(viewOf('b'), 'code', 'other')], 9);
  assert.deepEqual(
    [...outputs.firstAwaited],
    [
      ['acme', 7],
      ['other', 9],
    ],
  );
  settle([turnOf('a', { only: new Set([viewOf('c')]) })], [], 12);
  assert.equal(outputs.firstAwaited.get('acme'), 7, 'a turn for another output');
  settle([turnOf('a')], [deferred(viewOf('a'))], 12);
  assert.equal(outputs.firstAwaited.get('acme'), 7, 'deferred again: it includes the earlier change');
  settle([turnOf('a', { only: new Set([viewOf('a')]) })], [], 12);
  assert.equal(outputs.firstAwaited.get('acme'), 9);
  settle([turnOf('b', { entity: null })], [], 13);
  assert.equal(outputs.firstAwaited.get('acme'), undefined, 'its entity is gone');
});

test('deferred outputs: those that wait for a lookup index count for versions, not as rebuilds', () => {
  const { outputs, settle } = scene();
  settle([turnOf('a')], [deferred(viewOf('a'), 'index')], 3);
  assert.deepEqual([outputs.firstAwaited.get('acme'), outputs.firstRebuild.get('acme')], [3, undefined]);
  assert.equal(outputs.readyInMs(0), null);
  // The rebuild that fills the index gives the entity a turn, but the output keeps waiting.
  settle([turnOf('a')], [{ ...deferred(viewOf('a'), 'index'), isAwaited: false, cause: null }], 8);
  assert.equal(outputs.firstAwaited.get('acme'), 3);
  settle([turnOf('b')], [{ ...deferred(viewOf('b'), 'index'), isAwaited: false, cause: null }], 1);
  assert.equal(
    outputs.firstAwaited.get('acme'),
    3,
    'nobody waits for outputs that only a configuration defers',
  );
});

test('deferred outputs: code of a tenant without room waits, and nothing else does', () => {
  const { full, outputs, settle } = scene();
  full.add('acme');
  settle([turnOf('a')], [deferred(viewOf('a'))], 1);
  assert.equal(outputs.readyInMs(0), null);
  settle([turnOf('b')], [deferred(viewOf('b'), 'time'), deferred(viewOf('c'), 'code', 'other')], 2);
  const taken = [outputs.take(0, 40), outputs.take(0, 40), outputs.take(0, 40)];
  assert.deepEqual(taken.flatMap(names).sort(), [viewOf('b'), viewOf('c')].sort());
  full.clear();
  assert.deepEqual(names(outputs.take(0, 40)), [viewOf('a')]);
});

test('deferred outputs: finished ones are taken immediately, running ones are not', () => {
  const { open, outputs, settle } = scene();
  for (const originId of ['a', 'b']) open.set(`acme|${viewOf(originId)}`, false);
  settle([turnOf('a'), turnOf('b')], [deferred(viewOf('a')), deferred(viewOf('b'))], 1);
  assert.deepEqual([outputs.readyInMs(0), outputs.take(0, 40), outputs.takeAnswered()], [null, [], []]);
  open.set(`acme|${viewOf('b')}`, true);
  assert.equal(outputs.readyInMs(0), 0);
  const taken = outputs.takeAnswered();
  assert.deepEqual(names(taken), [viewOf('b')]);
  settle([turnOf('b', { only: new Set([viewOf('b')]) })], [], 1, taken);
  assert.equal(open.has(`acme|${viewOf('b')}`), false, 'its replies are dropped');
});

test('deferred outputs: actions of a change wait through unrelated turns', () => {
  const { outputs, settle } = scene();
  settle([turnOf('a', { isChange: true })], [deferred(actionsOf('a'))], 4);
  settle([turnOf('a')], [], 5);
  assert.equal(outputs.firstAwaited.get('acme'), 4);
  settle([turnOf('a', { only: new Set(), actions: new Set([actionsOf('a')]) })], [], 5);
  assert.equal(outputs.firstAwaited.get('acme'), undefined);
});

test('deferred outputs: the next owner finds them, except those that are built', async () => {
  const store = await redis.openEmptyStore(1);
  const lease = await takeLease(store, 0, 'first', 10_000);
  assert.ok(lease !== null);
  const { outputs } = scene(lease.tag);
  const writes = new PartitionWrites();
  const list = [deferred(viewOf('a|b')), deferred(viewOf('c'), 'index'), deferred(viewOf('d'), 'time')];
  outputs.settle([turnOf('a|b'), turnOf('c')], list, 6, [], writes);
  outputs.settle([turnOf('d')], [], 7, [], writes);
  await commit(store, lease, writes, announcement);
  const next = scene(lease.tag).outputs;
  await next.load(store);
  assert.deepEqual([...next.firstAwaited], [['acme', 6]]);
  assert.deepEqual(names(next.take(0, 1_000)), [viewOf('a|b')]);
});

test('deferred outputs: those recorded by an earlier version are built, even if their tenant is gone', async () => {
  const store = await redis.openEmptyStore(1);
  const lease = await takeLease(store, 0, 'first', 10_000);
  assert.ok(lease !== null);
  const noted = [viewOf('a'), viewOf('gone')].map((dependent) => `acme|${dependent}`);
  for (const name of noted) await store.client.hset(keys.deferred(lease.tag), name, '');
  const { outputs } = scene(lease.tag);
  await outputs.load(store);
  assert.deepEqual([...outputs.firstAwaited], []);
  const taken = outputs.take(0, 1_000);
  assert.deepEqual(names(taken), [viewOf('a'), viewOf('gone')]);
  const writes = new PartitionWrites();
  const turns = [turnOf('a', { only: new Set([viewOf('a')]) }), turnOf('gone', { entity: null })];
  outputs.settle(turns, [], 3, taken, writes);
  await commit(store, lease, writes, announcement);
  assert.deepEqual(await store.client.hkeys(keys.deferred(lease.tag)), []);
  assert.deepEqual([...outputs.firstRebuild], []);
});
