import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queue } from 'bullmq';
import { JobRunner } from '../../../src/store/configuration/job-runner.ts';
import { JobQueue, jobsPrefix } from '../../../src/store/configuration/jobs-queue.ts';
import { connectForJobs } from '../../../src/store/redis/connection.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();

test('a job that is seen as done is seen with all that it saved', async (context) => {
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
  // Of so many questions each takes long enough for the job to end in the middle of some.
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

test('jobs queue: each job is added so that BullMQ keeps 1,000 failed ones for at most 7 days', async (context) => {
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
