import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { typeScriptWords } from '../../src/typescript/words.ts';

async function folder(context: TestContext): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'millrace-'));
  context.after(() => rm(made, { recursive: true }));
  return made;
}

/** Runs a file to its end. @returns what it wrote, to standard error when it failed */
function run(file: string): Promise<string> {
  return promisify(execFile)(process.execPath, [...typeScriptWords, file]).then(
    ({ stdout }) => stdout,
    ({ stderr }: { stderr: string }) => stderr,
  );
}

test('traces name the lines of the TypeScript, and a file that is not there is told with who asked for it', async (context) => {
  const dir = await folder(context);
  const thrower = path.join(dir, 'thrower.ts');
  await writeFile(thrower, '\n\ninterface A {}\n\nthrow new Error(String(1 as number));\n');
  assert.match(await run(thrower), /Error: 1[\s\S]*thrower\.ts:5:/);
  const asker = path.join(dir, 'asker.ts');
  await writeFile(asker, "import './nowhere.ts';");
  assert.match(await run(asker), /Cannot find module .*nowhere\.ts' imported from .*asker\.ts/);
});

test('a mistake of syntax is told with its file and line', async (context) => {
  const file = path.join(await folder(context), 'broken.ts');
  await writeFile(file, 'const a = 1;\nconst = 2;\n');
  assert.match(await run(file), /broken\.ts:2:6: ERROR/);
});

test('a file that is imported for its types alone is not loaded, and a function has the name of its constant', async (context) => {
  const dir = await folder(context);
  const file = path.join(dir, 'user.ts');
  await writeFile(path.join(dir, 'types.ts'), 'export interface A { a: 1 }\nconsole.log("loaded");\n');
  await writeFile(
    file,
    "import type { A } from './types.ts';\nconst make = (): A => ({ a: 1 });\nconsole.log(make.name, make().a);\n",
  );
  assert.equal(await run(file), 'make 1\n');
});

test('tsx alone runs what the loader runs', async (context) => {
  const dir = await folder(context);
  const file = path.join(dir, 'user.ts');
  const listed = path.resolve('src/contract/limit-list.ts');
  await writeFile(
    file,
    `import { listLimits } from ${JSON.stringify(listed)};\nconsole.log(listLimits('').length);\n`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', file]);
  assert.equal(stdout, await run(file));
  assert.equal(stdout, '0\n');
});
