import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestRate } from '../../src/http/operations/request-rate.ts';
import { portionMax } from '../../src/jobs/backpressure.ts';
import { PacedPortions } from '../../src/jobs/paced-portions.ts';
import { Heartbeat } from '../../src/store/processes/heartbeat.ts';
import type { ProcessBeat } from '../../src/store/processes/process-messages.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const redis = await TestRedis.start();

function front(id: string, requestsPerSecond: number, readWaitMs: number | null): ProcessBeat {
  const told = {
    host: 'host',
    pid: 1,
    generation: 1,
    layouts: 0,
    partitions: [],
    waitingFor: [],
  };
  return { id, role: 'web', ...told, requestsPerSecond, readWaitMs };
}

test('a front tells what it answered since it told last', () => {
  const metrics = { requests: 10 };
  const rate = new RequestRate(metrics, 1_000);
  metrics.requests = 40;
  assert.equal(rate.perSecond(1_500), 60);
  assert.equal(rate.perSecond(2_500), 0);
});

test('portions follow what fronts tell while a job goes on', async (context) => {
  const store = await redis.openEmptyStore(1);
  const portions = new PacedPortions(store);
  const { signal } = new AbortController();
  assert.equal(await portions.next(signal), portionMax, 'no front');
  assert.equal(portions.perSecond, null);
  const { requestsPerSecond, readWaitMs, ...worker } = front('c', 0, null);
  const processes: ProcessBeat[] = [front('a', 30, 0.4), front('b', 0, null), { ...worker, role: 'worker' }];
  for (const process of processes) {
    const heartbeat = new Heartbeat(store, { beat: () => process, metrics: async () => '' });
    context.after(() => heartbeat.close());
  }
  await until('the reader is heard of', async () => {
    await portions.hear();
    return portions.perSecond !== null;
  });
  assert.ok((await portions.next(signal)) < portionMax, 'it stood still, then went on gently');
});

test('a job that ends does not wait for its next portion', async (context) => {
  const store = await redis.openEmptyStore(1);
  const heartbeat = new Heartbeat(store, { beat: () => front('a', 30, 0.4), metrics: async () => '' });
  context.after(() => heartbeat.close());
  const portions = new PacedPortions(store);
  const end = new AbortController();
  await until('it stands still', async () => {
    await portions.hear();
    return portions.perSecond !== null;
  });
  const next = (async () => {
    for (;;) await portions.next(end.signal);
  })();
  end.abort();
  await assert.rejects(next, { name: 'AbortError' });
});
