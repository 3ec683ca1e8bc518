import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { FrontReadiness, type ReadinessParts } from '../../../src/http/operations/readiness.ts';
import { Heartbeat } from '../../../src/store/processes/heartbeat.ts';
import type { CopiesBeat, ProcessBeat } from '../../../src/store/processes/process-messages.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();

function workerBeat(partitions: readonly number[], shardCopies?: CopiesBeat): ProcessBeat {
  const facts = { id: 'worker', role: 'worker', host: 'here', pid: 1, generation: 1, layouts: 1 } as const;
  const waitingFor = ['index items of partition 0: 1 of 2'];
  return { ...facts, partitions, waitingFor, ...(shardCopies === undefined ? {} : { shardCopies }) };
}

function beating(store: Store, context: TestContext, first: ProcessBeat) {
  let beat = first;
  const heartbeat = new Heartbeat(store, { beat: () => beat, metrics: async () => '' });
  context.after(() => heartbeat.close());
  return (next: ProcessBeat) => {
    beat = next;
    heartbeat.send();
  };
}

function frontOf(store: Store, more: Partial<ReadinessParts> = {}): FrontReadiness {
  return new FrontReadiness({
    store,
    configuration: { loaded: true },
    progress: { ready: true },
    unreachableWorkers: () => [],
    draining: () => false,
    ...more,
  });
}

test('readiness: processes of several versions are a fault, with the number of processes per version', async (context) => {
  const store = await redis.openEmptyStore(1);
  beating(store, context, { ...workerBeat([0]), waitingFor: [], version: '1.1.0' });
  const tell = beating(store, context, { ...workerBeat([]), id: 'old', waitingFor: [] });
  const front = frontOf(store);
  const versionFaults = async () => (await front.check()).faults.filter(({ kind }) => kind === 'versions');
  await until('both are known', async () => (await versionFaults()).length === 1);
  assert.deepEqual(await versionFaults(), [
    { kind: 'versions', reason: 'processes of several versions run: 1.1.0 (1), unknown (1)' },
  ]);
  tell({ ...workerBeat([]), id: 'old', waitingFor: [], version: '1.1.0' });
  await until('they are the same', async () => (await versionFaults()).length === 0);
});

test('readiness: a front waits for owners and indexes, unless there are copies of all shards', async (context) => {
  const store = await redis.openEmptyStore(2);
  const tell = beating(store, context, workerBeat([1]));
  const front = frontOf(store);
  const unowned = 'an owner of partition 0';
  await until('it waits for both', async () => (await front.check()).waitingFor.length === 2);
  const { waitingFor } = await front.check();
  assert.deepEqual(waitingFor, [unowned, 'worker worker: index items of partition 0: 1 of 2']);
  tell(workerBeat([1], { group: '0/1', ready: ['0/2'] }));
  await until(
    'part of the copies is reported',
    async () => (await store.registry.live())[0]?.shardCopies != null,
  );
  assert.deepEqual((await front.check()).waitingFor, waitingFor);
  tell(workerBeat([1], { group: '0/1', ready: ['0/1'] }));
  await until('it is ready', async () => (await front.check()).waitingFor.length === 0);
  const { faults } = await front.check();
  assert.deepEqual(faults[0], {
    kind: 'partitions',
    reason: 'no owner: partition 0',
    missing: 'an owner of partition 0',
  });
});

test('readiness: a front that was ready once stays ready without owners, indexes, workers and progress', async (context) => {
  const store = await redis.openEmptyStore(2);
  const whole = { ...workerBeat([0, 1]), waitingFor: [] };
  const tell = beating(store, context, whole);
  let isDraining = false;
  let isLoaded = true;
  const progress = { ready: true };
  const configuration = {
    get loaded() {
      return isLoaded;
    },
  };
  const front = frontOf(store, { progress, configuration, draining: () => isDraining });
  await until('it is ready', async () => (await front.check()).waitingFor.length === 0);

  tell(workerBeat([]));
  await until('all owners are gone', async () => (await front.check()).partitionsWithoutOwner === 2);
  assert.equal((await front.check()).faults[0]?.reason, 'no owner: partition 0, 1', 'the worker still runs');
  tell(workerBeat([1]));
  await until('it has noticed the loss', async () => (await front.check()).partitionsWithoutOwner === 1);
  progress.ready = false;
  const { waitingFor, faults } = await front.check();
  assert.deepEqual(waitingFor, []);
  assert.deepEqual(
    faults.map(({ kind }) => kind),
    ['partitions', 'indexes', 'redis', 'jobs'],
  );

  // Another front, which was never ready, waits for the same things.
  assert.equal((await frontOf(store, { progress }).check()).waitingFor.length, 3);

  isDraining = true;
  isLoaded = false;
  assert.deepEqual((await front.check()).waitingFor, ['this front is stopping', 'the configuration']);
});

test('readiness: a front is not ready while Redis does not reply, and reports only that', async (context) => {
  const own = await TestRedis.start();
  const store = await openStore({
    address: { kind: 'single', url: own.url },
    partitionCount: 2,
    commandTimeoutMs: 300,
  });
  context.after(() => store.close());
  beating(store, context, { ...workerBeat([0, 1]), waitingFor: [] });
  const front = frontOf(store);
  await until('it is ready', async () => (await front.check()).waitingFor.length === 0);
  await own.stop();
  const { waitingFor, faults, server } = await front.check();
  assert.deepEqual([waitingFor, faults, server], [['Redis'], [], null]);
});
