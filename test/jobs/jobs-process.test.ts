import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { rebuildJobs } from '../../src/jobs/rebuild-job-queue.ts';
import { readPartitionStates } from '../../src/store/partitions/partition-state.ts';
import { programWords } from '../../src/typescript/clone-or-package.mjs';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { Platform, page, siteFiles } from './support/platform.ts';

const redisUrl = (await TestRedis.start()).url;
const root = fileURLToPath(new URL('../../', import.meta.url));

const files = (title: string) =>
  siteFiles({ schemas: { page: { triggers: { cms: ['page'] }, properties: { title } } } });
const pages = Array.from({ length: 600 }, (_, index) => page(`p${index}`, { name: `Page ${index}` }));

test('jobs process: a jobs process that is killed during a rebuild loses nothing, and the next one continues', async (context) => {
  const platform = await Platform.start(context, redisUrl, 2);
  await platform.publish(files('{p.name}'));
  const worker = await platform.startWorker();
  await platform.ingest(pages);
  await platform.settle();
  const startProcess = () => {
    const child = spawn(process.execPath, [...programWords, 'workers/jobs.ts'], {
      cwd: root,
      env: { ...process.env, ...platform.environment('config') },
      stdio: 'ignore',
    });
    context.after(() => child.kill('SIGKILL'));
    return child;
  };
  const first = startProcess();
  await platform.rebuilt(1);
  // Without a worker one job stops halfway, at invalidations that are never rebuilt, and the other one waits for its slot.
  await worker.stop();
  const generation = await platform.publish(files('new {p.name}'));
  const queue = rebuildJobs(platform.store);
  await until('both jobs are in progress', async () => {
    const states = await readPartitionStates(platform.store);
    return states.some(({ end, checkpoint }) => end > checkpoint) && (await queue.counts()).active === 2;
  });
  first.kill('SIGKILL');
  await once(first, 'exit');
  await platform.startWorker();
  const second = startProcess();
  await platform.rebuilt(generation);
  await queue.close();
  for (const { originId } of pages) {
    assert.deepEqual(await platform.view('page', originId), { title: `new Page ${originId.slice(1)}` });
  }
  second.kill('SIGTERM');
  const [code] = await once(second, 'exit');
  assert.equal(code, 0, 'a jobs process ends cleanly at SIGTERM');
});
