import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { typeScriptWords } from '../../src/typescript/clone-or-package.mjs';

async function folder(context: TestContext): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'millrace-'));
  context.after(() => rm(made, { recursive: true }));
  return made;
}

/** Runs a file to its end. @returns its output, or its standard error if it failed */
function run(file: string): Promise<string> {
  return promisify(execFile)(process.execPath, [...typeScriptWords, file]).then(
    ({ stdout }) => stdout,
    ({ stderr }: { stderr: string }) => stderr,
  );
}

test('loader: traces have the lines of the TypeScript, and a missing file is reported with its importer', async (context) => {
  const dir = await folder(context);
  const thrower = path.join(dir, 'thrower.ts');
  await writeFile(thrower, '\n\ninterface A {}\n\nthrow new Error(String(1 as number));\n');
  assert.match(await run(thrower), /Error: 1[\s\S]*thrower\.ts:5:/);
  const asker = path.join(dir, 'asker.ts');
  await writeFile(asker, "import './nowhere.ts';");
  assert.match(await run(asker), /Cannot find module .*nowhere\.ts' imported from .*asker\.ts/);
});

test('loader: a syntax error is reported with its file and line', async (context) => {
  const file = path.join(await folder(context), 'broken.ts');
  await writeFile(file, 'const a = 1;\nconst = 2;\n');
  assert.match(await run(file), /broken\.ts:2:6: ERROR/);
});

test('loader: a file that is imported only for its types is not loaded, and a function has the name of its constant', async (context) => {
  const dir = await folder(context);
  const file = path.join(dir, 'user.ts');
  await writeFile(path.join(dir, 'types.ts'), 'export interface A { a: 1 }\nconsole.log("loaded");\n');
  await writeFile(
    file,
    "import type { A } from './types.ts';\nconst make = (): A => ({ a: 1 });\nconsole.log(make.name, make().a);\n",
  );
  assert.equal(await run(file), 'make 1\n');
});

test('loader: tsx alone runs what the loader runs', async (context) => {
  const dir = await folder(context);
  const file = path.join(dir, 'user.ts');
  const listed = path.resolve('src/contract/query-names.ts');
  await writeFile(
    file,
    `import { facetIntervals } from ${JSON.stringify(listed)};\nconsole.log(facetIntervals.length);\n`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', file]);
  assert.equal(stdout, await run(file));
  assert.equal(stdout, '4\n');
});

test('loader: packages are imported like by Node, whether they declare their format or not', async (context) => {
  const dir = await folder(context);
  const packages = {
    plain: { 'package.json': '{"main":"index.js"}', 'index.js': "exports.form = 'CommonJS';" },
    told: {
      'package.json': '{"type":"module","main":"index.js"}',
      'index.js': "export const form = 'a module';",
    },
    untold: {
      'package.json': '{"main":"index.mjs"}',
      'index.mjs': "export const form = 'a module by name';",
    },
    broken: { 'package.json': '{"main":"index.js"}', 'index.js': "throw new Error('it does not run');" },
  };
  for (const [name, files] of Object.entries(packages)) {
    const place = path.join(dir, 'node_modules', name);
    await mkdir(place, { recursive: true });
    for (const [file, text] of Object.entries(files)) await writeFile(path.join(place, file), text);
  }
  const user = path.join(dir, 'user.ts');
  await writeFile(
    user,
    `import plain, { form } from 'plain';
    import { form as told } from 'told';
    import { form as untold } from 'untold';
    console.log([plain.form === form, form, told, untold].join());`,
  );
  assert.equal(await run(user), 'true,CommonJS,a module,a module by name\n');
  const failing = path.join(dir, 'failing.ts');
  await writeFile(failing, "import 'broken';");
  assert.match(await run(failing), /Error: it does not run\n\s+at .*broken\/index\.js:1:/);
});
