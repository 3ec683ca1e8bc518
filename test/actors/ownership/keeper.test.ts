/** Which workers keep or lose partitions, depending on their main threads and the clock of Redis. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { keys } from '../../../src/store/keys.ts';
import { readOwners } from '../../../src/store/ownership/owners.ts';
import { liveProcesses } from '../../../src/store/processes/registry.ts';
import type { Store } from '../../../src/store/store.ts';
import { typeScriptWords } from '../../../src/typescript/clone-or-package.mjs';
import { TestRedis } from '../../support/redis.ts';
import { redisTimeMs } from '../../support/redis-time.ts';
import { until } from '../../support/until.ts';
import { Fleet, type Member, publishDocuments } from '../support/fleet.ts';
import { worldDocuments } from '../support/world.ts';

const redis = await TestRedis.start();
const program = fileURLToPath(new URL('../support/blockable-worker.ts', import.meta.url));
const partitionCount = 4;
const leaseMs = 1_500;
const hourMs = 3_600_000;
/** Of a main thread that counts as dead no sooner than promised. */
const patientMs = 30_000;

interface BlockableWorker {
  readonly id: string;
  readonly process: ChildProcess;
  /** Resolves after its main thread has been blocked for that long. */
  block(forMs: number): Promise<void>;
}

async function startBlockable(context: TestContext, stuckMs: number): Promise<BlockableWorker> {
  const words = [redis.url, partitionCount, leaseMs, stuckMs].map(String);
  const child = fork(program, words, { execArgv: [...typeScriptWords] });
  context.after(() => child.kill('SIGKILL'));
  const [id] = (await once(child, 'message')) as [string];
  return {
    id,
    process: child,
    block: async (forMs) => {
      const done = once(child, 'message');
      child.send(forMs);
      await done;
    },
  };
}

/** A blockable worker that has half of the partitions, and another one that would take them. */
async function startBoth(
  context: TestContext,
  stuckMs: number,
): Promise<{ store: Store; blockable: BlockableWorker; other: Member }> {
  const store = await redis.openEmptyStore(partitionCount);
  await publishDocuments(store, worldDocuments());
  const fleet = new Fleet(redis, store, leaseMs);
  context.after(() => fleet.stop());
  const blockable = await startBlockable(context, stuckMs);
  const other = await fleet.add();
  const half = partitionCount / 2;
  await until('each has half of the partitions', async () => {
    const owned = await Promise.all([blockable.id, other.worker.id].map((id) => partitionsOf(store, id)));
    return owned.every(({ length }) => length === half);
  });
  await until('fronts see it', async () => (await toldBy(store, blockable.id))?.length === half);
  return { store, blockable, other };
}

async function partitionsOf(store: Store, workerId: string): Promise<number[]> {
  const owners = await readOwners(store);
  return owners.flatMap((owner, partition) =>
    owner.holds && owner.workerId === workerId ? [partition] : [],
  );
}

/** Partitions in its heartbeat; null if there is no heartbeat. */
async function toldBy(store: Store, workerId: string): Promise<readonly number[] | null> {
  const beat = (await liveProcesses(store)).find(({ id }) => id === workerId);
  return beat?.partitions ?? null;
}

const takenOver = (store: Store, { worker }: Member) =>
  until('the other one has all partitions', async () => {
    return (await partitionsOf(store, worker.id)).length === partitionCount;
  });

test('keeper: a worker whose main thread is blocked for three lease times keeps its partitions', async (context) => {
  const { store, blockable } = await startBoth(context, patientMs);
  const before = (await readOwners(store)).map(({ workerId, epoch }) => [workerId, epoch]);
  const reported = await toldBy(store, blockable.id);
  await blockable.block(3 * leaseMs);
  // A partition that was lost would have a later epoch.
  assert.deepEqual(
    (await readOwners(store)).map(({ workerId, epoch }) => [workerId, epoch]),
    before,
  );
  assert.deepEqual(await toldBy(store, blockable.id), reported);
});

test('keeper: a worker whose main thread hangs loses its partitions', async (context) => {
  const { store, blockable, other } = await startBoth(context, 2 * leaseMs);
  const blocked = blockable.block(120_000);
  await Promise.race([takenOver(store, other), blocked]);
  await until('nobody sees it', async () => (await toldBy(store, blockable.id)) === null);
});

test('keeper: a suspended worker loses its partitions, and gets its share again when it resumes', async (context) => {
  const { store, blockable, other } = await startBoth(context, patientMs);
  blockable.process.kill('SIGSTOP');
  await takenOver(store, other);
  blockable.process.kill('SIGCONT');
  await until('it has its share', async () => (await partitionsOf(store, blockable.id)).length === 2);
});

test('keeper: the partitions of a dead worker move even if the clock of Redis was set back', async (context) => {
  const { store, blockable, other } = await startBoth(context, patientMs);
  const left = await partitionsOf(store, blockable.id);
  blockable.process.kill('SIGKILL');
  await once(blockable.process, 'exit');
  // Its leases look like this when the clock is an hour behind the one that renewed them.
  const untilMs = String((await redisTimeMs(store.client)) + hourMs);
  for (const partition of left) {
    await store.client.hset(keys.owner(store.partitions.tag(partition)), 'leaseUntilMs', untilMs);
  }
  assert.deepEqual(await partitionsOf(store, blockable.id), left);
  await takenOver(store, other);
});

test('keeper: a live worker keeps its partitions when the clock of Redis is set back', async (context) => {
  const { store, blockable } = await startBoth(context, patientMs);
  const before = (await readOwners(store)).map(({ workerId, epoch }) => [workerId, epoch]);
  const untilMs = String((await redisTimeMs(store.client)) + hourMs);
  for (const tag of store.partitions.tags) await store.client.hset(keys.owner(tag), 'leaseUntilMs', untilMs);
  await blockable.block(2 * leaseMs);
  const owners = await readOwners(store);
  assert.deepEqual(
    owners.map(({ workerId, epoch }) => [workerId, epoch]),
    before,
  );
  assert.ok(
    owners.every(({ leaseUntilMs }) => leaseUntilMs < Number(untilMs)),
    'they are renewed by the current clock',
  );
});
