import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestRate } from '../../src/http/operations/request-rate.ts';
import { FrontLoad, restFactor } from '../../src/jobs/front-load.ts';
import { Heartbeat } from '../../src/store/processes/heartbeat.ts';
import type { ProcessBeat } from '../../src/store/processes/process-messages.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const redis = await TestRedis.start();

function front(id: string, requestsPerSecond: number): ProcessBeat {
  const told = {
    host: 'host',
    pid: 1,
    generation: 1,
    layouts: 0,
    partitions: [],
    waitingFor: [],
  };
  return { id, role: 'web', ...told, requestsPerSecond };
}

test('a front tells what it answered since it told last', () => {
  const metrics = { requests: 10 };
  const rate = new RequestRate(metrics, 1_000);
  metrics.requests = 40;
  assert.equal(rate.perSecond(1_500), 60);
  assert.equal(rate.perSecond(2_500), 0);
});

test('the load is that of all fronts, and is heard of while a rebuild goes on', async (context) => {
  const store = await redis.openEmptyStore(1);
  const load = new FrontLoad(store);
  assert.equal(await load.perSecond(), 0, 'no front');
  assert.equal(await load.areUnread(), true);
  const { requestsPerSecond, ...worker } = front('c', 0);
  const processes: ProcessBeat[] = [front('a', 30), front('b', 12), { ...worker, role: 'worker' }];
  for (const process of processes) {
    const heartbeat = new Heartbeat(store, { beat: () => process, metrics: async () => '' });
    context.after(() => heartbeat.close());
  }
  await until('both fronts are heard of', async () => (await load.perSecond()) === 42);
  assert.equal(await load.areUnread(), false);
  assert.equal(await load.restMs(10), 50);
  assert.equal(await load.restMs(100_000), 2_000, 'bounded');
});

test('a rest is the longer the more the fronts have to do, within bounds', () => {
  const factors = [0, 0.9, 5, 10, 20, 1e6].map(restFactor);
  assert.deepEqual(factors, [0, 0, 2, 3, 5, 5]);
});
