import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { privateRedisUrl } from '../../../src/cli/platform/private-redis-login.ts';
import { lockDataDir } from '../../../src/cli/start/data-dir.ts';
import { freePort, requireFreePort } from '../../../src/cli/start/ports.ts';
import { startPrivateRedis } from '../../../src/cli/start/private-redis.ts';
import { Output, Supervisor } from '../../../src/cli/start/supervisor.ts';
import { connect, type RedisClient } from '../../../src/store/redis/redis-connection.ts';
import { typeScriptWords } from '../../../src/typescript/clone-or-package.mjs';
import { until } from '../../support/until.ts';
import { root, temporaryFolder } from '../support/command.ts';

const neverStopped = new AbortController().signal;

async function startIn(context: TestContext, dataDir: string) {
  const supervisor = new Supervisor(new Output({ write: () => {} }));
  context.after(() => supervisor.kill());
  const url = await startPrivateRedis({ dataDir, appendFsync: 'always', supervisor, signal: neverStopped });
  return { supervisor, url };
}

function client(context: TestContext, url: string): RedisClient {
  const connected = connect({ address: { kind: 'single', url }, commandTimeoutMs: 5_000 });
  context.after(() => connected.disconnect());
  return connected;
}

test('private Redis: data survives a stop and a new start', async (context) => {
  const dataDir = await temporaryFolder(context);
  const first = await startIn(context, dataDir);
  await client(context, first.url).set('key', 'value');
  await first.supervisor.stop();
  const second = await startIn(context, dataDir);
  assert.equal(await client(context, second.url).get('key'), 'value');
  assert.equal(privateRedisUrl(dataDir), second.url);
  await second.supervisor.stop();
});

test('private Redis: it listens only on this machine and requires its password, which only this user can read', async (context) => {
  const dataDir = await temporaryFolder(context);
  const { supervisor, url } = await startIn(context, dataDir);
  const { hostname, port } = new URL(url);
  assert.equal(hostname, '127.0.0.1');
  const stranger = client(context, `redis://127.0.0.1:${port}`);
  await assert.rejects(stranger.get('key'), /NOAUTH/);
  for (const file of ['redis.json', 'redis/redis.conf']) {
    assert.equal(statSync(path.join(dataDir, file)).mode & 0o077, 0);
  }
  await supervisor.stop();
});

test('private Redis: its folder is private, even if it was not before, and a data folder open to others is reported', async (context) => {
  const modeOf = (folder: string) => statSync(folder).mode & 0o777;
  const above = await temporaryFolder(context);
  const made = path.join(above, 'made');
  await (await startIn(context, made)).supervisor.stop();
  assert.deepEqual([modeOf(made), modeOf(path.join(made, 'redis'))], [0o700, 0o700]);

  const open = path.join(above, 'open');
  mkdirSync(path.join(open, 'redis'), { recursive: true });
  for (const folder of [open, path.join(open, 'redis')]) chmodSync(folder, 0o755);
  const lines: string[] = [];
  const supervisor = new Supervisor(new Output({ write: (text) => lines.push(text) }));
  context.after(() => supervisor.kill());
  await startPrivateRedis({ dataDir: open, appendFsync: 'always', supervisor, signal: neverStopped });
  await supervisor.stop();
  assert.deepEqual([modeOf(open), modeOf(path.join(open, 'redis'))], [0o755, 0o700]);
  assert.match(
    lines.join(''),
    /DATA_DIR is accessible to other users of this machine\. To restrict it: chmod 700 /,
  );
});

test('private Redis: it answers until all other processes have ended', async (context) => {
  const dataDir = await temporaryFolder(context);
  const { supervisor, url } = await startIn(context, dataDir);
  const record = path.join(dataDir, 'told');
  const script = `
    import { appendFileSync } from 'node:fs';
    import { connect } from 'node:net';
    const [told, url] = process.argv.slice(1);
    setInterval(() => {}, 1_000);
    process.on('SIGTERM', async () => {
      const { hostname, port } = new URL(url);
      const word = await new Promise((resolve) => {
        const socket = connect({ host: hostname, port: Number(port) }, () => resolve('answers'));
        socket.once('error', () => resolve('is gone'));
      });
      appendFileSync(told, word + ' ');
      process.exit();
    });
    appendFileSync(told, 'runs ');`;
  const words = ['--input-type=module', '-e', script, record, url];
  supervisor.startEntry({ name: 'worker', program: 'node', words }, 1, process.env);
  await until('the worker runs', () => existsSync(record) && readFileSync(record, 'utf8') === 'runs ');
  await supervisor.stop();
  assert.equal(readFileSync(record, 'utf8'), 'runs answers ');
});

test('private Redis: after a kill it restarts with its data at the same address', async (context) => {
  const dataDir = await temporaryFolder(context);
  const { supervisor, url } = await startIn(context, dataDir);
  const redis = client(context, url);
  await redis.set('key', 'value');
  const pid = Number(/process_id:(\d+)/.exec(await redis.call('INFO', 'server').then(String))?.[1]);
  process.kill(pid, 'SIGKILL');
  await until('it replies again', async () => (await redis.get('key').catch(() => null)) === 'value');
  await supervisor.stop();
});

test('private Redis: if its start was killed it ends by itself, and the next start finds all its data', async (context) => {
  const dataDir = await temporaryFolder(context);
  const script = `
    import { Output } from './src/cli/start/supervisor.ts';
    import { startPrivateRedis } from './src/cli/start/private-redis.ts';
    import { Supervisor } from './src/cli/start/supervisor.ts';
    const supervisor = new Supervisor(new Output(process.stdout));
    await startPrivateRedis({ dataDir: process.argv[1], appendFsync: 'always', supervisor, signal: new AbortController().signal });
    console.log('started');
  `;
  const parent = spawn(process.execPath, [...typeScriptWords, '--input-type=module', '-e', script, dataDir], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => parent.kill('SIGKILL'));
  let output = '';
  parent.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  await until('it started', () => output.includes('started'));
  const url = privateRedisUrl(dataDir) ?? '';
  await client(context, url).set('key', 'value');
  parent.kill('SIGKILL');
  const next = await startIn(context, dataDir);
  assert.equal(await client(context, next.url).get('key'), 'value');
  await assert.rejects(requireAnswer(client(context, url)), 'the old one is gone');
  await next.supervisor.stop();
});

async function requireAnswer(redis: RedisClient): Promise<void> {
  await redis.ping();
}

test('private Redis: a Redis that cannot start is reported with its last output', async (context) => {
  const dataDir = await temporaryFolder(context);
  const first = await startIn(context, dataDir);
  await client(context, first.url).set('key', 'value');
  await first.supervisor.stop();
  writeFileSync(path.join(dataDir, 'redis/appendonlydir/appendonly.aof.manifest'), 'nonsense\n');
  const start = startIn(context, dataDir);
  await assert.rejects(start, /^Error: The private redis-server did not start: .*manifest/);
});

test('private Redis: a data folder has one start at a time, and a killed start blocks nothing', async (context) => {
  const dataDir = await temporaryFolder(context);
  const lock = await lockDataDir(dataDir);
  await assert.rejects(lockDataDir(dataDir), /Another npm start is using .*DATA_DIR/);
  await new Promise((resolve) => lock.close(resolve));
  const script = `
    import { lockDataDir } from './src/cli/start/data-dir.ts';
    await lockDataDir(process.argv[1]);
    process.kill(process.pid, 'SIGKILL');
  `;
  const killed = spawn(process.execPath, [...typeScriptWords, '--input-type=module', '-e', script, dataDir], {
    cwd: root,
    stdio: 'inherit',
  });
  await new Promise((resolve) => killed.once('exit', resolve));
  (await lockDataDir(dataDir)).close();
});

test('private Redis: a data folder with a long name can be locked like any other', async (context) => {
  const dataDir = path.join(await temporaryFolder(context), 'n'.repeat(200));
  mkdirSync(dataDir);
  const lock = await lockDataDir(dataDir);
  await assert.rejects(lockDataDir(dataDir), /Another npm start/);
  lock.close();
});

test('private Redis: a port in use is reported with what to do about it', async (context) => {
  const port = await freePort('127.0.0.1');
  await requireFreePort('127.0.0.1', port);
  const lock = createServer().listen(port, '127.0.0.1');
  context.after(() => lock.close());
  await new Promise((resolve) => lock.once('listening', resolve));
  await assert.rejects(
    requireFreePort('127.0.0.1', port),
    new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use .* PORT=${port + 1} npm start`),
  );
  await assert.rejects(requireFreePort('192.0.2.1', port), /Cannot listen on HOST=192\.0\.2\.1/);
});
