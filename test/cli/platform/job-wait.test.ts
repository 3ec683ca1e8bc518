import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runningProcesses, waitForProcesses } from '../../../src/cli/platform/job-wait.ts';
import { Heartbeat } from '../../../src/store/processes/heartbeat.ts';
import type { ProcessBeat } from '../../../src/store/processes/process-messages.ts';
import { TestRedis } from '../../support/redis.ts';

/** After an outage of this length, processes try to connect once a second. */
const outageMs = 3_000;

test('job wait: a command that starts right after Redis waits for processes that have not connected again', async () => {
  const redis = await TestRedis.start({ durable: true });
  const ofProcess = await redis.openStore(1);
  const beat: ProcessBeat = {
    ...{ id: 'front', role: 'web' as const, host: 'here', pid: 7 },
    ...{ layouts: 0, generation: 1, partitions: [], waitingFor: [] },
  };
  let generation = 1;
  const heartbeat = new Heartbeat(ofProcess, {
    beat: () => ({ ...beat, generation }),
    metrics: async () => '',
  });
  redis.onEnd(() => heartbeat.close());
  await redis.killServer();
  await sleep(outageMs);
  await redis.startServer();
  const ofCommand = await redis.openStore(1);
  const never = new AbortController().signal;
  setTimeout(() => {
    generation = 2;
  }, outageMs);
  assert.equal(await waitForProcesses(ofCommand, 2, never), 1);
  assert.equal(generation, 2);
  assert.deepEqual(
    (await runningProcesses(ofCommand)).map(({ id }) => id),
    ['front'],
  );
});

test('job wait: a process that hangs is waited for until it counts as stopped, and then mentioned', async (context) => {
  const redis = await TestRedis.start();
  const ofProcess = await redis.openStore(1);
  const facts = { id: 'front', role: 'web', host: 'here', pid: 7, layouts: 0 } as const;
  let beat: ProcessBeat | null = null;
  const heartbeat = new Heartbeat(ofProcess, { beat: () => beat, metrics: async () => '' });
  redis.onEnd(() => heartbeat.close());
  const lines = context.mock.method(console, 'error', () => {});
  const never = new AbortController().signal;
  await sleep(3_000);
  assert.equal(await waitForProcesses(await redis.openStore(1), 2, never), 0);
  assert.match(String(lines.mock.calls.at(-1)?.arguments[0]), /^1 process does not respond/);

  let isUpdated = false;
  setTimeout(() => {
    beat = { ...facts, generation: 1, partitions: [], waitingFor: [] };
  }, 2_000);
  setTimeout(() => {
    isUpdated = true;
    beat = { ...facts, generation: 2, partitions: [], waitingFor: [] };
  }, 6_000);
  assert.equal(await waitForProcesses(await redis.openStore(1), 2, never), 1);
  assert.ok(isUpdated);
});
