import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { readGenerations } from '../../src/store/configuration/published-configuration.ts';
import { type Files, Platform, page, siteFiles, writeFiles } from '../jobs/support/platform.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { runCommand, temporaryFolder } from './support/command.ts';

const redisUrl = (await TestRedis.start()).url;

function files(title: string): Files {
  return siteFiles({ schemas: { page: { triggers: { cms: ['page'] }, properties: { title } } } });
}

const pages = Array.from({ length: 120 }, (_, index) => page(`p${index}`, { name: `Page ${index}` }));

test('apply: activates the configuration of the folder, shows the rebuild and ends when it is done', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const folder = await temporaryFolder(context);
  await platform.publish(files('{p.name}'));
  await platform.startWorker();
  await platform.startJobs();
  await platform.ingest(pages);
  await platform.settle();
  writeFiles(folder, files('new {p.name}'));
  const applied = await runCommand('apply', [], { env: platform.environment(folder) });
  assert.deepEqual(
    { code: applied.code, stderr: applied.stderr.split('\n').at(-2) },
    {
      code: 0,
      stderr: '100 % rebuilt for generation 2: 120 entities checked, 120 of them rebuilt',
    },
  );
  assert.match(applied.stdout, /now active \(generation 2\)[\s\S]*All 2 processes use it[\s\S]*rebuilt/);
  for (const { originId } of pages) {
    assert.deepEqual(await platform.view('page', originId), { title: `new Page ${originId.slice(1)}` });
  }
  const again = await runCommand('apply', [], { env: platform.environment(folder) });
  assert.equal(again.code, 0);
  assert.match(again.stdout, /unchanged \(generation 2\)/);
});

test('apply: an invalid configuration is refused with all its errors, and the active one stays', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const folder = await temporaryFolder(context);
  await platform.publish(files('{p.name}'));
  writeFiles(folder, {
    ...files('{p.name'),
    'tenants/acme/schemas/second.json': { triggers: { nowhere: ['page'] }, properties: {} },
  });
  const refused = await runCommand('apply', [], { env: platform.environment(folder) });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /schemas\/page\.json: \$\.properties\.title/);
  assert.match(refused.stderr, /schemas\/second\.json/);
  assert.equal((await readGenerations(platform.store)).active, 1);
});

test('apply: with --no-wait, or when no process runs, it ends once the configuration is active', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const folder = await temporaryFolder(context);
  writeFiles(folder, files('{p.name}'));
  const first = await runCommand('apply', [], { env: platform.environment(folder) });
  assert.deepEqual([first.code, /No process is running/.test(first.stdout)], [0, true]);
  await platform.startWorker();
  writeFiles(folder, files('other {p.name}'));
  const second = await runCommand('apply', ['--no-wait'], { env: platform.environment(folder) });
  assert.equal(second.code, 0);
  assert.equal((await readGenerations(platform.store)).active, 2);
});

/** A platform without a jobs process, and the environment of a command whose folder changes all its views. */
async function changedWithoutJobs(context: TestContext) {
  const platform = await Platform.start(context, redisUrl);
  const folder = await temporaryFolder(context);
  await platform.publish(files('{p.name}'));
  await platform.startWorker();
  await platform.ingest(pages);
  await platform.settle();
  writeFiles(folder, files('new {p.name}'));
  return { platform, env: platform.environment(folder) };
}

test('apply: reports immediately that no jobs process runs, and does not wait forever', async (context) => {
  const { env } = await changedWithoutJobs(context);
  const [waiting, once] = await Promise.all([
    runCommand('apply', [], { env }),
    runCommand('apply', ['--no-wait'], { env }),
  ]);
  assert.equal(waiting.code, 1);
  assert.match(waiting.stdout, /^The running process uses it\.$/m);
  assert.match(
    waiting.stderr,
    /^The rebuild waits because no jobs process is running: start one \(npm run jobs\)/m,
  );
  assert.match(waiting.stderr, /^The rebuild has stopped because no jobs process is running/m);
  assert.equal(once.code, 0);
  assert.match(once.stdout, /not rebuilt yet because no jobs process is running: start one \(npm run jobs\)/);
});

test('apply: after Ctrl-C it says that the rebuild continues, and it does', async (context) => {
  const { platform, env } = await changedWithoutJobs(context);
  const left = await runCommand('apply', [], { env, interruptAt: /The rebuild waits/ });
  assert.deepEqual(
    { code: left.code, stderr: left.stderr.split('\n').at(-2) },
    {
      code: 130,
      stderr: 'The rebuild continues without this command. To follow it: npm run apply',
    },
  );
  await platform.startJobs();
  await until('the rebuild is done', async () => {
    const view = await platform.view('page', 'p119');
    return JSON.stringify(view) === '{"title":"new Page 119"}';
  });
});

test('apply: a full Redis accepts no configuration, which is reported in one line', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const folder = await temporaryFolder(context);
  await platform.publish(files('{p.name}'));
  writeFiles(folder, files('new {p.name}'));
  await platform.store.client.config('SET', 'maxmemory', '1mb');
  const refused = await runCommand('apply', [], { env: platform.environment(folder) });
  await platform.store.client.config('SET', 'maxmemory', '0');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^Redis at \S+ is full: give it more memory \(maxmemory\)[^\n]*\n$/);
  assert.equal((await readGenerations(platform.store)).active, 1);
});

test('apply: without a Redis, it says in one line what to do', async (context) => {
  const folder = await temporaryFolder(context);
  writeFiles(folder, files('{p.name}'));
  const env = { REDIS_URL: '', REDIS_CLUSTER: '', CONFIG_DIR: folder, DATA_DIR: path.join(folder, 'none') };
  const stopped = await runCommand('apply', [], { env });
  assert.equal(stopped.code, 1);
  assert.match(stopped.stderr, /npm start|REDIS_URL/);
  assert.equal(stopped.stderr.trim().split('\n').length, 1);
  rmSync(folder, { recursive: true, force: true });
});
