import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readinessOf } from '../../../src/http/operations/readiness.ts';
import { Heartbeat } from '../../../src/store/processes/heartbeat.ts';
import type { CopiesBeat, ProcessBeat } from '../../../src/store/processes/process-messages.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();

function workerBeat(partitions: readonly number[], shardCopies?: CopiesBeat): ProcessBeat {
  const facts = { id: 'worker', role: 'worker', host: 'here', pid: 1, generation: 1, layouts: 1 } as const;
  const waitingFor = ['index items of partition 0: 1 of 2'];
  return { ...facts, partitions, waitingFor, ...(shardCopies === undefined ? {} : { shardCopies }) };
}

test('a front waits for owners and indexes, unless copies of all shards are there', async (context) => {
  const store = await redis.openEmptyStore(2);
  let beat = workerBeat([1]);
  const heartbeat = new Heartbeat(store, { beat: () => beat, metrics: async () => '' });
  context.after(() => heartbeat.close());
  const readiness = () =>
    readinessOf({ store, configuration: { loaded: true }, progress: { ready: true }, draining: () => false });
  const unowned = 'an owner of partition 0';
  await until('it waits for both', async () => (await readiness()).waitingFor.length === 2);
  const { waitingFor } = await readiness();
  assert.deepEqual(waitingFor, [unowned, 'worker worker: index items of partition 0: 1 of 2']);
  beat = workerBeat([1], { group: '0/1', ready: ['0/2'] });
  heartbeat.tell();
  await until(
    'a part of the copies is told of',
    async () => (await store.registry.live())[0]?.shardCopies != null,
  );
  assert.deepEqual((await readiness()).waitingFor, waitingFor);
  beat = workerBeat([1], { group: '0/1', ready: ['0/1'] });
  heartbeat.tell();
  await until('it is ready', async () => (await readiness()).waitingFor.length === 0);
  const { degraded } = await readiness();
  assert.equal(degraded[0], unowned);
});
