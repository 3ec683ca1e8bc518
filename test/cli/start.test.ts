import assert from 'node:assert/strict';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { lockDataDir } from '../../src/cli/start/data-dir.ts';
import { freePort } from '../../src/cli/start/ports.ts';
import { root, runCommand, temporaryFolder } from './support/command.ts';

/** A port that was free may be in use when it is needed. */
const anyPort = '0';

/** Runs `npm start`, which is expected to fail. @returns the lines that it prints */
async function failingStart(env: Record<string, string>): Promise<string[]> {
  const result = await runCommand('start', [], { env: { REDIS_URL: '', REDIS_CLUSTER: '', ...env } });
  assert.equal(result.code, 1, result.stderr);
  return result.stderr.trim().split('\n');
}

test('start: a port in use ends the start with one line, before anything runs', async (context) => {
  const server = createServer().listen(0, '127.0.0.1');
  context.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const lines = await failingStart({ PORT: port, DATA_DIR: await temporaryFolder(context) });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use by another program`));
});

test('start: a Redis that does not respond ends the start with one line without its password', async (context) => {
  const port = await freePort('127.0.0.1');
  const lines = await failingStart({
    PORT: anyPort,
    REDIS_URL: `redis://user:secret@127.0.0.1:${port}`,
    DATA_DIR: await temporaryFolder(context),
  });
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(lines[0] ?? '', new RegExp(`^Redis at redis://127\\.0\\.0\\.1:${port} does not respond`));
  assert.doesNotMatch(lines[0] ?? '', /secret/);
});

test('start: an invalid setting ends the start with one line', async () => {
  const lines = await failingStart({ PORT: 'http' });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /PORT is "http": it must be/);
});

test('start: all errors in an invalid configuration are reported, and the last line says what to do', async (context) => {
  const configDir = await temporaryFolder(context);
  await cp(path.join(root, 'config/tenants'), path.join(configDir, 'tenants'), { recursive: true });
  await writeFile(path.join(configDir, 'tenants/atlas/schemas/city.json'), '{"triggers": 1}');
  await writeFile(path.join(configDir, 'tenants/atlas/indexes/cities.json'), '{');
  const lines = await failingStart({ CONFIG_DIR: configDir, DATA_DIR: await temporaryFolder(context) });
  assert.ok(lines.some((line) => line.startsWith('tenants/atlas/schemas/city.json: $')));
  assert.ok(lines.some((line) => line.startsWith('tenants/atlas/indexes/cities.json: $')));
  assert.match(lines.at(-1) ?? '', /The configuration in .* has \d+ errors\. To check it again/);
});

test('start: a data folder that another start uses ends the start with one line', async (context) => {
  const dataDir = await temporaryFolder(context);
  const lock = await lockDataDir(dataDir);
  context.after(() => lock.close());
  const lines = await failingStart({ DATA_DIR: dataDir, PORT: anyPort });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^Another npm start is using /);
});

test('start: a data folder that cannot be created ends the start with one line', async () => {
  const lines = await failingStart({
    DATA_DIR: '/proc/millrace/data',
    PORT: anyPort,
  });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^DATA_DIR cannot be created: /);
});

test('start: a read-only data folder ends the start with one line that says so', async (context) => {
  // Not even root can write there.
  const lines = await failingStart({ DATA_DIR: '/proc/sys', PORT: anyPort });
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(lines[0] ?? '', /^Cannot write to DATA_DIR=\/proc\/sys \(E\w+\)\. Give this user/);

  const dataDir = await temporaryFolder(context);
  await mkdir(path.join(dataDir, 'redis.json'));
  const others = await failingStart({ DATA_DIR: dataDir, PORT: anyPort });
  assert.equal(others.length, 1, others.join('\n'));
  assert.match(others[0] ?? '', /^DATA_DIR cannot be written: E\w+.*redis\.json/);
});

test('start: a configuration folder that is missing or is not a folder is reported by name', async (context) => {
  const folder = await temporaryFolder(context);
  for (const [configDir, found] of [
    [folder, 'has no tenants'],
    [path.join(folder, 'nowhere'), 'does not exist'],
  ] as const) {
    const lines = await failingStart({ CONFIG_DIR: configDir, DATA_DIR: path.join(folder, 'data') });
    assert.equal(
      lines[1]?.trim(),
      `Create it, or point CONFIG_DIR at the configuration folder: ${configDir} ${found}.`,
    );
  }
});
