import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root, run, runCommand, temporaryFolder } from './support/command.ts';

test('init: nobody else can read the files of a new site, which contain keys', async (context) => {
  const folder = path.join(await temporaryFolder(context), 'my-site');
  const { code, stderr } = await runCommand('init', [folder]);
  assert.equal(code, 0, stderr);
  const names = readdirSync(folder, { recursive: true }).map(String);
  assert.ok(names.includes('README.md'), names.join());
  for (const name of ['', ...names]) {
    const facts = statSync(path.join(folder, name));
    assert.equal(facts.mode & 0o777, facts.isDirectory() ? 0o700 : 0o600, name);
  }
});

test('init: after a failed write the folder is empty, so that the command can be repeated', async (context) => {
  const folder = path.join(await temporaryFolder(context), 'my-site');
  const limited = 'ulimit -f 1; exec npm run -s init -- "$0"';
  const { code, stderr } = await run('sh', ['-c', limited, folder], { cwd: root });
  assert.equal(code, 1);
  assert.match(stderr, /cannot be written: EFBIG/);
  assert.deepEqual(readdirSync(folder), []);
});

test('init: the printed command works for a folder with spaces and quotes', async (context) => {
  const folder = path.join(await temporaryFolder(context), "Anna's größter $HOME");
  const { stdout } = await runCommand('init', [folder]);
  const line = /^ {2}(CONFIG_DIR=.*) npm run dev$/m.exec(stdout)?.[1];
  const printed = await run('sh', ['-c', `${line} printenv CONFIG_DIR DATA_DIR`]);
  assert.equal(printed.stdout, `${folder}/config\n${folder}/.data\n`, stdout);
});
