/** A host without a CONFIG_DIR must not replace the configuration in the store. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { freePort } from '../../../src/cli/start/ports.ts';
import { readActiveDigest } from '../../../src/store/configuration/published-configuration.ts';
import { programWords } from '../../../src/typescript/clone-or-package.mjs';
import { page, Platform as Store, siteFiles, writeFiles } from '../../jobs/support/platform.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { root, runCommand, temporaryFolder } from '../support/command.ts';
import { Platform } from '../support/platform.ts';

const redisUrl = (await TestRedis.start()).url;
const site = siteFiles({
  schemas: { page: { triggers: { cms: ['page'] }, properties: { title: '{p.name}' } } },
});

/** An empty variable counts as absent. */
const forgotten = { CONFIG_DIR: '' };

/** A process of the Procfile, and its output. */
class Running {
  output = '';

  private constructor(readonly process: ChildProcess) {
    for (const stream of [process.stdout, process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
  }

  static async start(
    context: TestContext,
    role: 'web' | 'worker' | 'jobs',
    env: Record<string, string>,
  ): Promise<Running> {
    const file = `workers/${role === 'worker' ? 'partition' : role}.ts`;
    const port = String(await freePort('127.0.0.1'));
    const child = spawn(process.execPath, [...programWords, file], {
      cwd: root,
      env: { ...process.env, PORT: port, ...env },
    });
    context.after(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    });
    return new Running(child);
  }

  async says(what: RegExp): Promise<void> {
    await until(`it prints ${what}`, () => what.test(this.output)).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.output}`);
    });
  }
}

test('forgotten folder: SIGHUP to a process without a CONFIG_DIR does not change the configuration, and logs why', async (context) => {
  const store = await Store.start(context, redisUrl);
  await store.publish(site);
  const before = await readActiveDigest(store.store);
  const env = { ...store.environment(''), ...forgotten, LOG_LEVEL: 'info' };
  const ready = { web: /web is listening/, worker: /worker is running/, jobs: /ready/ };
  for (const role of ['web', 'worker', 'jobs'] as const) {
    const running = await Running.start(context, role, env);
    await running.says(ready[role]);
    running.process.kill('SIGHUP');
    await running.says(/the configuration is unchanged/);
    assert.match(running.output, /CONFIG_DIR is not set and this store has a configuration other/);
  }
  assert.deepEqual(await readActiveDigest(store.store), before);
});

test('forgotten folder: apply without a CONFIG_DIR ends with one line that names it, and changes nothing', async (context) => {
  const store = await Store.start(context, redisUrl);
  const env = { ...store.environment(''), ...forgotten };
  for (const expected of [/has no configuration yet/, /has a configuration other/]) {
    const before = await readActiveDigest(store.store);
    const { code, stdout, stderr } = await runCommand('apply', ['--no-wait'], { env });
    assert.deepEqual([code, stdout, stderr.trim().split('\n').length], [1, '', 1]);
    assert.match(stderr, /CONFIG_DIR/);
    assert.match(stderr, expected);
    assert.deepEqual(await readActiveDigest(store.store), before);
    await store.publish(site);
  }
});

test('forgotten folder: a process without a CONFIG_DIR waits on an empty store until there is a configuration', async (context) => {
  const store = await Store.start(context, redisUrl);
  const env = { ...store.environment(''), ...forgotten };
  const web = await Running.start(context, 'web', { ...env, LOG_LEVEL: 'info' });
  await web.says(/waiting for npm run apply with a CONFIG_DIR/);
  assert.equal(await readActiveDigest(store.store), null);
  const folder = await temporaryFolder(context);
  writeFiles(folder, site);
  const applied = await runCommand('apply', ['--no-wait'], { env: store.environment(folder) });
  assert.equal(applied.code, 0, applied.stderr);
  await web.says(/web is listening/);
});

test('forgotten folder: npm start without a CONFIG_DIR keeps the active configuration, and shows no demo', async (context) => {
  const store = await Store.start(context, redisUrl);
  await store.publish(site);
  const before = await readActiveDigest(store.store);
  const env = { ...store.environment(''), ...forgotten, DEMO: 'on', LOG_LEVEL: 'warn' };
  const platform = await Platform.start(context, env);
  await platform.ready();
  assert.match(platform.output, /CONFIG_DIR is not set .* which stays active/);
  assert.doesNotMatch(platform.output, /atlas-demo|Loading the demo/);
  assert.deepEqual(await readActiveDigest(store.store), before);
  await platform.stop();
});

test('forgotten folder: npm start without CONFIG_DIR and without the demo ends with one line on an empty store', async (context) => {
  const store = await Store.start(context, redisUrl);
  const port = String(await freePort('127.0.0.1'));
  const env = { ...store.environment(''), ...forgotten, DEMO: 'off', PORT: port };
  const { code, stderr } = await runCommand('start', [], { env });
  assert.deepEqual([code, stderr.trim().split('\n').length], [1, 1], stderr);
  assert.match(stderr, /^CONFIG_DIR is not set/);
  assert.equal(await readActiveDigest(store.store), null);
});

test('forgotten folder: on an empty store npm start loads the demo, and then apply and SIGHUP work without a CONFIG_DIR', async (context) => {
  const store = await Store.start(context, redisUrl);
  const env = { ...store.environment(''), ...forgotten };
  const platform = await Platform.start(context, { ...env, DEMO: 'on' });
  await until('the demo is active', async () => (await readActiveDigest(store.store)) !== null);
  assert.equal((await readActiveDigest(store.store))?.origin, 'own');
  const applied = await runCommand('apply', ['--no-wait'], { env });
  assert.deepEqual([applied.code, applied.stderr], [0, '']);
  assert.match(applied.stdout, /unchanged \(generation 1\)/);
  await until('its processes are started', () => /waiting for|Loading/.test(platform.output));
  platform.process.kill('SIGHUP');
  await until('it is logged', () => platform.output.includes('was reloaded and is active'));
  await platform.stop();
});

test('forgotten folder: SIGHUP does not remove what has data: it logs what, and which command does', async (context) => {
  const store = await Store.start(context, redisUrl);
  await store.publish(site);
  await store.startWorker();
  await store.ingest([page('a', { name: 'A' })]);
  await store.settle();
  const folder = await temporaryFolder(context);
  writeFiles(folder, siteFiles());
  const jobs = await Running.start(context, 'jobs', { ...store.environment(folder), LOG_LEVEL: 'info' });
  await jobs.says(/ready/);
  jobs.process.kill('SIGHUP');
  await jobs.says(/schema page of tenant acme \(1 view\)\. To confirm, run: npm run apply -- --yes/);
  assert.equal((await readActiveDigest(store.store))?.generation, 1);
  assert.deepEqual(await store.view('page', 'a'), { title: 'A' });
});
