import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { until } from '../support/until.ts';
import { type CommandResult, root, run, runCommand, temporaryFolder } from './support/command.ts';

const oldRedis = 'echo "Redis server v=6.2.7 sha=00000000:0"';
const newRedis = 'echo "Redis server v=7.0.15 sha=00000000:0"';

/** A folder for the PATH that contains only these programs, as shell scripts, and a shell. */
async function programs(context: TestContext, scripts: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder(context);
  await symlink('/usr/bin/env', path.join(folder, 'env'));
  await symlink('/bin/sh', path.join(folder, 'sh'));
  for (const [name, script] of Object.entries(scripts)) {
    const file = path.join(folder, name);
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
  }
  return folder;
}

/** Calls one function of the bootstrap in its own process; an exit is printed. */
function call(
  module: string,
  expression: string,
  env: Record<string, string>,
  before = '',
): Promise<CommandResult> {
  const url = pathToFileURL(path.join(root, 'src/cli/bootstrap', module)).href;
  const script = `${before}; const m = await import('${url}');
    try { await m.${expression}; console.log('went on'); } catch (error) { console.log(error.message); }`;
  return run(process.execPath, ['--input-type=module', '-e', script], { env });
}

test('bootstrap: every script replaces the shell that npm starts it in, so that signals to npm reach it', async () => {
  const { scripts } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  // npm runs it by itself, and nothing stops it.
  const { prepack: _, ...typed } = scripts;
  const processes = Object.values<string>(typed).filter((script) => /\bnode\b/.test(script));
  assert.ok(processes.length >= 12);
  for (const script of processes) assert.match(script, /^exec node /);
});

test('bootstrap: a command in a deleted folder ends with one line', { timeout: 60_000 }, async (context) => {
  const folder = await temporaryFolder(context);
  const program = path.join(root, 'src/cli/bootstrap.mjs');
  const script = 'cd "$0" && rmdir "$0" && exec "$1" "$2" check';
  const { code, stderr } = await run('sh', ['-c', script, folder, process.execPath, program]);
  assert.equal(code, 1);
  assert.equal(
    stderr,
    'The working directory no longer exists. Change to another folder and run the same command again.\n',
  );
});

const asRoot = 'process.getuid = () => 0';
const asUser = 'process.getuid = () => 1000';

function ensureRedis(folder: string, who: string): Promise<CommandResult> {
  return call('programs.mjs', 'ensureRedisServer()', { PATH: folder, DEBIAN_FRONTEND: '' }, who);
}

/** An apt-get that records its arguments and installs a redis-server. */
function aptGet(redis: string): string {
  return `
    here=\${0%/*}
    echo "$DEBIAN_FRONTEND $*" >> "$here/apt-get.log"
    case "$*" in
      *install*) printf '#!/bin/sh\\n%s\\n' '${redis}' > "$here/redis-server"; /bin/chmod +x "$here/redis-server" ;;
    esac`;
}

test('bootstrap: a recent redis-server is used without changes', async (context) => {
  const folder = await programs(context, { 'redis-server': newRedis, 'apt-get': 'exit 1' });
  const result = await ensureRedis(folder, asRoot);
  assert.equal(result.stdout, 'went on\n');
  assert.equal(result.stderr, '');
});

test("bootstrap: root installs a missing redis-server from the system's packages, with a message", async (context) => {
  const folder = await programs(context, { 'apt-get': aptGet(newRedis) });
  const result = await ensureRedis(folder, asRoot);
  assert.equal(result.stdout, 'went on\n', result.stderr);
  assert.match(result.stderr, /redis-server is not installed: installing it .*apt-get/);
  const log = await readFile(path.join(folder, 'apt-get.log'), 'utf8');
  assert.deepEqual(log.split('\n'), [' update -qq', 'noninteractive install -y -qq redis-server', '']);
});

test('bootstrap: sudo without a password is used to install packages', async (context) => {
  const folder = await programs(context, {
    'apt-get': aptGet(newRedis),
    sudo: 'shift; if [ "$1" = true ]; then exit 0; fi; exec "$@"',
  });
  const result = await ensureRedis(folder, asUser);
  assert.equal(result.stdout, 'went on\n', result.stderr);
});

test('bootstrap: without permission to install, the exact command is printed', async (context) => {
  const folder = await programs(context, { 'apt-get': aptGet(newRedis), sudo: 'exit 1' });
  const result = await ensureRedis(folder, asUser);
  assert.match(
    result.stdout,
    /sudo apt-get update -qq && sudo DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server\n$/,
  );
  assert.equal(result.stdout.trim().split('\n').length, 1);
});

test('bootstrap: an old redis-server, a failed installation and a system without packages are reported in one line', async (context) => {
  const old = await programs(context, { 'redis-server': oldRedis, 'apt-get': aptGet(oldRedis) });
  assert.match((await ensureRedis(old, asRoot)).stdout, /no redis-server 7 or newer/);
  const failing = await programs(context, { 'apt-get': 'echo "E: no network" >&2; exit 100' });
  assert.match((await ensureRedis(failing, asRoot)).stdout, /failed \(E: no network\)\. Run this/);
  const bare = await programs(context, {});
  assert.match((await ensureRedis(bare, asRoot)).stdout, /Install Redis 7 or newer/);
});

test('bootstrap: everything that starts its own Redis installs redis-server first, benchmarks too', async () => {
  const needs = async (command: string, env: Record<string, string> = {}) =>
    call('run-command.mjs', `needsRedisServer('${command}') || process.exit(1)`, env);
  for (const command of ['start', 'dev', 'test', 'coverage', 'bench'])
    assert.equal((await needs(command)).code, 0);
  for (const command of ['import', 'check']) assert.equal((await needs(command)).code, 1);
  assert.equal((await needs('start', { REDIS_URL: 'redis://127.0.0.1:6379' })).code, 1);
});

test('bootstrap: missing tools of the tests are installed, and tests run without them if that is impossible', async (context) => {
  const ensure = (folder: string, who: string) =>
    call('programs.mjs', `ensureTestPrograms('${folder}/sbin')`, { PATH: folder, DEBIAN_FRONTEND: '' }, who);
  const fresh = await programs(context, { 'apt-get': aptGet(newRedis) });
  const installed = await ensure(fresh, asRoot);
  assert.equal(installed.stdout, 'went on\n', installed.stderr);
  const log = await readFile(path.join(fresh, 'apt-get.log'), 'utf8');
  assert.match(log, /install -y -qq nginx\n.*install -y -qq chromium\n/s);
  const there = await programs(context, { nginx: 'exit 0', chromium: 'exit 0', 'apt-get': 'exit 1' });
  assert.deepEqual(await ensure(there, asRoot), { code: 0, stdout: 'went on\n', stderr: '' });
  const ofSystem = await programs(context, { chromium: 'exit 0', 'apt-get': 'exit 1' });
  await mkdir(path.join(ofSystem, 'sbin'));
  await symlink(path.join(there, 'nginx'), path.join(ofSystem, 'sbin/nginx'));
  assert.equal((await ensure(ofSystem, asRoot)).stderr, '');
  const locked = await programs(context, { 'apt-get': 'exit 1', sudo: 'exit 1' });
  const refused = await ensure(locked, asUser);
  assert.equal(refused.stdout, 'went on\n');
  assert.match(
    refused.stderr,
    /needs root.*sudo apt-get update.*The tests that use nginx will fail\.\n.*The tests that use chromium will fail\.\n$/s,
  );
});

/**
 * Interrupting a real package manager could damage the machine, so this one only reports its start, and whether services were
 * kept from starting.
 */
const slowAptGet = `
  here=\${0%/*}
  case "$*" in
    *install*) [ -x "$here/policy-rc.d" ] && echo guarded >> "$here/apt-get.log"; exec /bin/sleep 20 ;;
  esac`;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`bootstrap: an installation interrupted by ${signal} leaves nothing that keeps services from starting`, async (context) => {
    const folder = await programs(context, { 'apt-get': slowAptGet });
    for (const tool of ['cp', 'rm']) await symlink(`/bin/${tool}`, path.join(folder, tool));
    const policyFile = path.join(folder, 'policy-rc.d');
    const url = pathToFileURL(path.join(root, 'src/cli/bootstrap/programs.mjs'));
    const script = `process.getuid = () => 0; const m = await import('${url}');
      try { await m.ensureRedisServer('${policyFile}'); } catch (error) { console.log(error.message); }`;
    // In its own process group, since a Ctrl-C reaches everything that a terminal runs.
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: folder },
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const closed = once(child, 'close');
    const log = path.join(folder, 'apt-get.log');
    // The shell creates the file before it writes to it.
    await until(
      'the installation is in progress',
      async () => (await readFile(log, 'utf8').catch(() => '')) !== '',
    );
    process.kill(-(child.pid ?? 0), signal);
    await closed;
    assert.equal(await readFile(log, 'utf8'), 'guarded\n');
    assert.match(said, /^Installing redis-server was stopped\. Run this, then try again: apt-get update/);
    assert.equal(existsSync(policyFile), false);
  });
}

/** A checkout with a lock file, and an npm that records its arguments. */
async function checkout(context: TestContext) {
  const folder = await temporaryFolder(context);
  const bin = await programs(context, {
    npm: `echo "$*" >> npm.log; /bin/mkdir -p node_modules; exit \${NPM_EXIT:-0}`,
  });
  const lock = (version: string) =>
    writeFile(
      path.join(folder, 'package-lock.json'),
      JSON.stringify({
        packages: {
          '': {},
          'node_modules/a': { version },
          'node_modules/other': { version, os: [`!${process.platform}`] },
          'node_modules/this': { version, os: [process.platform], cpu: [process.arch] },
        },
      }),
    );
  await lock('1.0.0');
  const ensure = (env = {}) =>
    call('node-modules.mjs', `ensureNodeModules(${JSON.stringify(folder)})`, { PATH: bin, ...env });
  const calls = async () =>
    (await readFile(path.join(folder, 'npm.log'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  return { folder, lock, ensure, calls };
}

test('bootstrap: node modules are installed if they are missing, and again only if the lock file has changed', async (context) => {
  const { lock, ensure, calls } = await checkout(context);
  const first = await ensure();
  assert.equal(first.stdout, 'went on\n', first.stderr);
  assert.match(first.stderr, /Installing the node modules/);
  assert.equal((await ensure()).stderr, '');
  assert.deepEqual(await calls(), ['ci --no-audit --no-fund --loglevel=error']);
  await lock('1.0.1');
  await ensure();
  assert.equal((await calls()).length, 2);
});

test('bootstrap: an installation by npm from the same lock file is not repeated', async (context) => {
  const { folder, ensure, calls } = await checkout(context);
  await mkdir(path.join(folder, 'node_modules'));
  const version = '1.0.0';
  const installed = { packages: { 'node_modules/a': { version }, 'node_modules/this': { version } } };
  await writeFile(path.join(folder, 'node_modules/.package-lock.json'), JSON.stringify(installed));
  assert.equal((await ensure()).stdout, 'went on\n');
  assert.deepEqual(await calls(), []);
});

test('bootstrap: an installation that lacks a package for this machine is repeated', async (context) => {
  const { folder, ensure, calls } = await checkout(context);
  await mkdir(path.join(folder, 'node_modules'));
  const installed = { packages: { 'node_modules/a': { version: '1.0.0' } } };
  await writeFile(path.join(folder, 'node_modules/.package-lock.json'), JSON.stringify(installed));
  await ensure();
  assert.equal((await calls()).length, 1);
});

test('bootstrap: a failed installation is reported, and retried the next time', async (context) => {
  const { ensure, calls } = await checkout(context);
  assert.match((await ensure({ NPM_EXIT: '1' })).stdout, /could not be installed.*npm ci/);
  assert.equal((await ensure()).stdout, 'went on\n');
  assert.equal((await calls()).length, 2);
});

test('bootstrap: an unknown command is reported in one line', async () => {
  for (const words of ['fly', '../../etc/passwd', 'Import']) {
    const result = await runCommand(words, []);
    assert.equal(result.code, 1);
    assert.match(result.stderr, /^Unknown command .*npm run\n$/);
  }
});

test('bootstrap: the lock file names the optional packages of every platform, without which npm ci refuses it', async () => {
  const lock: { packages: Record<string, { optionalDependencies?: Record<string, string> }> } = JSON.parse(
    await readFile(path.join(root, 'package-lock.json'), 'utf8'),
  );
  const missing = Object.entries(lock.packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        lock.packages[`node_modules/${name}`] === undefined &&
        lock.packages[`${place}/node_modules/${name}`] === undefined,
    ),
  );
  assert.deepEqual(missing, []);
});

test('bootstrap: an unknown benchmark is reported in one line', async () => {
  const result = await runCommand('bench', ['no-such-benchmark']);
  assert.equal(result.code, 1);
  assert.equal(result.stderr, 'There is no benchmark no-such-benchmark. To list them: npm run bench\n');
  const list = await runCommand('bench', []);
  assert.equal(list.code, 0);
  assert.match(list.stdout, /^all\n(.+\n)+$/);
});
