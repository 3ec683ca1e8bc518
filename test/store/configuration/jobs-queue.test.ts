import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { JobQueue, JobRunner, jobsPrefix } from '../../../src/store/configuration/jobs-queue.ts';
import { connectForJobs } from '../../../src/store/redis/redis-connection.ts';
import { StoreUnavailableError } from '../../../src/store/redis/redis-errors.ts';
import { openStore } from '../../../src/store/store.ts';
import { FaultyRedis } from '../../support/faulty-redis.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();

test('jobs queue: a job that is reported as done is read with everything that it saved', async (context) => {
  const store = await redis.openEmptyStore(1);
  const queue = new JobQueue<object, { readonly saved: string }>(store, 'steps');
  let letEnd = () => {};
  const mayEnd = new Promise<void>((resolve) => {
    letEnd = resolve;
  });
  const runner = new JobRunner<object, { readonly saved: string }>(
    store,
    'steps',
    1,
    async ({ save }) => {
      await save({ saved: 'a part' });
      await mayEnd;
      await save({ saved: 'all' });
    },
    (message) => assert.fail(message),
  );
  context.after(() => Promise.all([runner.stop(), queue.close()]));
  await queue.add([{ id: 'step', task: {} }]);
  await until('it has saved a part', async () => (await queue.statuses(['step']))[0]?.progress != null);
  // With so many polls, the job ends in the middle of some of them.
  const asked = queue.statuses(new Array<string>(3_000).fill('step'));
  letEnd();
  const statuses = await asked;
  await until('it has ended', async () => {
    statuses.push(...(await queue.statuses(['step'])));
    return statuses.at(-1)?.state === 'done';
  });
  for (const status of statuses) {
    if (status?.state === 'done') assert.deepEqual(status.progress, { saved: 'all' });
  }
});

test('jobs queue: BullMQ is asked to keep at most 1,000 failed jobs, for at most 7 days', async (context) => {
  const store = await redis.openEmptyStore(1);
  const queue = new JobQueue<object, object>(store, 'kept');
  const connection = connectForJobs(store.address);
  const stored = new Queue('kept', { connection, prefix: jobsPrefix });
  context.after(async () => {
    await Promise.all([queue.close(), stored.close()]);
    connection.disconnect();
  });
  await queue.add([{ id: 'job', task: {} }]);
  const job = await stored.getJob('job');
  assert.deepEqual(job?.opts.removeOnFail, { age: 7 * 24 * 3600, count: 1_000 });
});

test('jobs queue: with a command timeout, every poll ends within it while Redis hangs', async (context) => {
  await redis.flush();
  const wire = await FaultyRedis.start(() => redis.port);
  context.after(() => wire.stop());
  const impatient = await openStore({
    address: { kind: 'single', url: wire.url },
    partitionCount: 1,
    commandTimeoutMs: 300,
  });
  context.after(() => impatient.close());
  const known = new JobQueue<object, object>(impatient, 'away');
  await known.add([{ id: 'job', task: {} }]);
  wire.stall();
  for (const queue of [known, new JobQueue<object, object>(impatient, 'away')]) {
    const questions: Record<string, () => Promise<unknown>> = {
      add: () => queue.add([{ id: 'other', task: {} }]),
      statuses: () => queue.statuses(['job']),
      pending: () => queue.pending(),
      counts: () => queue.counts(),
    };
    for (const [name, ask] of Object.entries(questions)) {
      await assert.rejects(within(5_000, name, ask()), StoreUnavailableError, name);
    }
    await within(5_000, 'close', queue.close());
  }
  wire.resume();
  const later = new JobQueue<object, object>(impatient, 'away');
  context.after(() => later.close());
  await until('it is polled again', async () => (await later.statuses(['job']).catch(() => []))[0] != null);
});

/** @throws if the promise does not settle in time */
async function within<T>(ms: number, name: string, asked: Promise<T>): Promise<T> {
  const late = new AbortController();
  const over = sleep(ms, undefined, { signal: late.signal }).then(() => {
    throw new Error(`${name} did not settle within ${ms} ms`);
  });
  over.catch(() => {});
  try {
    return await Promise.race([asked, over]);
  } finally {
    late.abort();
  }
}

test('jobs queue: a job that a stopping process interrupts continues at once, even if that had a wrong clock', async (context) => {
  const store = await redis.openEmptyStore(1);
  const queue = new JobQueue<object, object>(store, 'clocks');
  context.after(() => queue.close());
  const startRunner = (act: (signal: AbortSignal) => Promise<unknown>) => {
    const runner = new JobRunner<object, object>(
      store,
      'clocks',
      1,
      async ({ signal }) => void (await act(signal)),
      (message) => assert.fail(message),
    );
    context.after(() => runner.stop());
    return runner;
  };
  const { now } = Date;
  const clock = context.mock.method(Date, 'now', () => now() + 3_600_000);
  const ahead = startRunner((signal) => sleep(60_000, undefined, { signal }));
  await queue.add([{ id: 'job', task: {} }]);
  await until('it runs', async () => (await queue.statuses(['job']))[0]?.state === 'active');
  await ahead.stop();
  clock.mock.restore();
  startRunner(async () => {});
  await until('it is done', async () => (await queue.statuses(['job']))[0]?.state === 'done', 20_000);
});
