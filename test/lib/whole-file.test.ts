import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeWhole } from '../../src/lib/whole-file.ts';
import { typeScriptWords } from '../../src/typescript/clone-or-package.mjs';
import { root, run, temporaryFolder } from '../cli/support/command.ts';

const program = `
  import { writeWhole } from './src/lib/whole-file.ts';
  writeWhole(process.argv[1], 'x'.repeat(10_000_000));
`;

/** Writes 10 MB where files can have 1 MB. */
async function writeTooMuch(file: string): Promise<string> {
  const words = [...typeScriptWords, '--input-type=module', '--eval', program, file];
  const limited = 'ulimit -f 1024; exec "$0" "$@"';
  const { code, stderr } = await run('sh', ['-c', limited, process.execPath, ...words], { cwd: root });
  assert.notEqual(code, 0);
  return stderr;
}

async function folderOf(context: TestContext): Promise<(name: string) => string> {
  const folder = await temporaryFolder(context);
  return (name) => path.join(folder, name);
}

test('whole file: a write that fails leaves the former file, or none, and nothing beside it', async (context) => {
  const inFolder = await folderOf(context);
  const [file, fresh] = [inFolder('types.ts'), inFolder('fresh.ts')];
  writeFileSync(file, 'former');
  for (const target of [file, fresh]) assert.match(await writeTooMuch(target), /EFBIG/);
  assert.equal(readFileSync(file, 'utf8'), 'former');
  assert.deepEqual(readdirSync(inFolder('')), ['types.ts']);
});

test('whole file: a link stays a link, permissions stay, and a device is written to', async (context) => {
  const inFolder = await folderOf(context);
  const [file, link] = [inFolder('types.ts'), inFolder('link.ts')];
  writeFileSync(file, 'former', { mode: 0o640 });
  symlinkSync('types.ts', link);
  writeWhole(link, 'new');
  assert.equal(readFileSync(file, 'utf8'), 'new');
  assert.equal(statSync(file).mode & 0o777, 0o640);
  writeWhole('/dev/null', 'lost');
  writeWhole(inFolder('secret'), 'x', 0o600);
  assert.equal(statSync(inFolder('secret')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(inFolder('')).sort(), ['link.ts', 'secret', 'types.ts']);
});
