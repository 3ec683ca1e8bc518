import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeferredOutput } from '../../../src/actors/batch/batch-changes.ts';
import type { OpenCalls } from '../../../src/actors/rebuild/deferred-outputs.ts';
import { PendingRebuilds } from '../../../src/actors/rebuild/pending-rebuilds.ts';
import { formatDependent, repairOf } from '../../../src/store/derived/dependents.ts';
import { type Lease, takeLease } from '../../../src/store/ownership/lease.ts';
import { commit, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import { type IntakeEntry, portionsOf } from '../../../src/store/partitions/intake.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const leaseMs = 10_000;
const noneTaken = { rebuilds: [], areDeferred: false };
const noCalls: OpenCalls = {
  isOpen: () => false,
  isAnswered: () => true,
  hasRoom: () => true,
  forget: () => {},
};

function view(originId: string): string {
  return formatDependent({ kind: 'view', environmentId: 'env', name: 'page', sourceId: 's', originId });
}

function invalidation(sequence: number, tenant: string, ...dependents: string[]): IntakeEntry {
  return { kind: 'invalidation', sequence, tenant, dependents, causes: dependents.map(() => null) };
}

function portionOf(...entries: IntakeEntry[]) {
  const [portion] = [...portionsOf(entries)];
  assert.ok(portion !== undefined);
  return portion;
}

async function store(it: Store, lease: Lease, writes: PartitionWrites, checkpoint: number): Promise<void> {
  const announcement = {
    checkpoint,
    pendingRebuilds: new Map(),
    downstream: [],
    digests: Buffer.alloc(0),
  };
  await commit(it, lease, writes, announcement);
}

test('pending rebuilds: the next owner finds the waiting rebuilds, oldest first, without finished ones', async () => {
  const it = await redis.openEmptyStore(1);
  const lease = await takeLease(it, 0, 'first', leaseMs);
  assert.ok(lease !== null);
  const pending = new PendingRebuilds(it, lease.tag, noCalls);
  const taken = new PartitionWrites();
  pending.add(
    portionOf(
      invalidation(1, 'acme', view('a'), view('b|with a bar')),
      invalidation(2, 'acme', view('c')),
      invalidation(3, 'acme', view('a')),
    ),
    taken,
  );
  await store(it, lease, taken, 3);
  const next = new PendingRebuilds(it, lease.tag, noCalls);
  await next.load();
  const waiting = next.queue.take(0, Number.MAX_SAFE_INTEGER);
  assert.deepEqual(
    waiting.map(({ tenant, dependent, first, last }) => [tenant, dependent, first, last]),
    [
      ['acme', view('a'), 1, 3],
      ['acme', view('b|with a bar'), 1, 1],
      ['acme', view('c'), 2, 2],
    ],
  );
  const done = new PartitionWrites();
  const batch = { turns: [], changes: { deferred: [], writes: done } };
  next.settle(batch, 3, { rebuilds: waiting.slice(0, 2), areDeferred: false });
  await store(it, lease, done, 3);
  const last = new PendingRebuilds(it, lease.tag, noCalls);
  await last.load();
  assert.deepEqual(
    last.queue.take(0, Number.MAX_SAFE_INTEGER).map(({ dependent }) => dependent),
    [view('c')],
  );
});

test('pending rebuilds: a rebuild covered by a full turn of the same portion does not wait, but a repair does', async () => {
  const it = await redis.openEmptyStore(1);
  const pending = new PendingRebuilds(it, it.partitions.tag(0), noCalls);
  const repair = formatDependent(repairOf('s', 'a', null));
  const changed: IntakeEntry = {
    kind: 'entities',
    sequence: 2,
    tenant: 'acme',
    sourceId: 's',
    originIds: ['a'],
    bytes: 1,
  };
  pending.add(
    portionOf(
      invalidation(1, 'acme', view('a'), repair, view('b')),
      changed,
      invalidation(3, 'other', view('a')),
    ),
    new PartitionWrites(),
  );
  const waiting = [0, 1].flatMap(() => pending.queue.take(0, Number.MAX_SAFE_INTEGER));
  assert.deepEqual(
    waiting.map(({ tenant, dependent }) => [tenant, dependent]),
    [
      ['acme', repair],
      ['acme', view('b')],
      ['other', view('a')],
    ],
  );
});

test('pending rebuilds: deferred outputs with a constant flow of replies alternate with the rebuilds of others', async () => {
  const it = await redis.openEmptyStore(1);
  const pending = new PendingRebuilds(it, '{x}', { ...noCalls, isOpen: () => true });
  const writes = new PartitionWrites();
  const late = ['a', 'b', 'c', 'd'].map((originId): DeferredOutput => {
    const cause = { sourceId: 's', originId };
    return { tenant: 'acme', dependent: view(originId), reason: 'code', isAwaited: true, cause };
  });
  const defer = (deferred: readonly DeferredOutput[]) =>
    pending.settle({ turns: [], changes: { deferred: [...deferred], writes } }, 1, noneTaken);
  pending.add(portionOf(invalidation(1, 'other', view('x'), view('y'))), writes);
  defer(late.slice(0, 2));
  const first = pending.take(0, 40);
  defer(late.slice(2));
  const second = pending.take(0, 40);
  assert.deepEqual([first.areDeferred, second.areDeferred].sort(), [false, true]);
});
