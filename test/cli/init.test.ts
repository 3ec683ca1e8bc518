import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { runCommand, temporaryFolder } from './support/command.ts';

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
