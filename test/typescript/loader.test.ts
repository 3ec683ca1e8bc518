import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { typeScriptWords } from '../../src/typescript/words.ts';

interface Loaded {
  readonly source: string | Uint8Array;
}

interface Hooks {
  initialize(options: Readonly<Record<string, string>>): void;
  load(url: string, context: object, nextLoad: (url: string) => Loaded): Promise<Loaded>;
}

const hooksUrl = new URL('../../src/typescript/hooks.mjs', import.meta.url);
const tsconfigFile = path.resolve('tsconfig.json');

async function folder(context: TestContext): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'millrace-'));
  context.after(() => rm(made, { recursive: true }));
  return made;
}

/** Loads files as Node would. @returns the hooks, and how often something was compiled since */
async function hooksOf(cacheDir: string, compilerFile: string, process_: string) {
  const hooks = (await import(`${hooksUrl.href}?${process_}`)) as Hooks;
  hooks.initialize({ cacheDir, tsconfigFile, compilerFile });
  let compiled = 0;
  return {
    load: async (file: string) => {
      const { source } = await hooks.load(pathToFileURL(file).href, { importAttributes: {} }, (url) => {
        compiled += 1;
        return { format: 'module', source: readFileSync(new URL(url)) } as Loaded;
      });
      return Buffer.from(source).toString();
    },
    compiled: () => compiled,
  };
}

test('a file is compiled once, and again when it or the compiler has changed or what was kept is broken', async (context) => {
  const dir = await folder(context);
  const file = path.join(dir, 'sum.ts');
  const compilerFile = path.join(dir, 'compiler.json');
  const cacheDir = path.join(dir, 'cache');
  await writeFile(compilerFile, '1');
  await writeFile(file, 'export const sum: number = 1 + 2;');
  const first = await hooksOf(cacheDir, compilerFile, 'first');
  const source = await first.load(file);
  assert.match(source, /^const sum=1\+2;?export/);
  const second = await hooksOf(cacheDir, compilerFile, 'second');
  assert.equal(await second.load(file), source);
  assert.deepEqual([first.compiled(), second.compiled()], [1, 0]);

  await writeFile(file, 'export const sum: number = 4;');
  assert.match(await second.load(file), /^const sum=4/);
  assert.equal(second.compiled(), 1);
  await writeFile(compilerFile, '2');
  const upgraded = await hooksOf(cacheDir, compilerFile, 'upgraded');
  await upgraded.load(file);
  assert.equal(upgraded.compiled(), 1);

  const [kept = ''] = await readdir(cacheDir);
  await writeFile(path.join(cacheDir, kept), 'const su');
  assert.match(await upgraded.load(file), /^const sum=4/);
  assert.deepEqual(await readdir(cacheDir), [kept], 'one file, and no draft of it');
});

test('where nothing can be kept everything runs as well', async (context) => {
  const dir = await folder(context);
  const file = path.join(dir, 'one.ts');
  await writeFile(file, 'export const one: number = 1;');
  const hooks = await hooksOf(path.join(file, 'no-folder'), tsconfigFile, 'unwritable');
  await hooks.load(file);
  await hooks.load(file);
  assert.equal(hooks.compiled(), 2);
});

test('traces name the lines of the TypeScript, and a file that is not there is told with who asked for it', async (context) => {
  const dir = await folder(context);
  const run = (name: string) =>
    promisify(execFile)(process.execPath, [...typeScriptWords, path.join(dir, name)]).then(
      () => '',
      ({ stderr }: { stderr: string }) => stderr,
    );
  await writeFile(
    path.join(dir, 'thrower.ts'),
    '\n\ninterface A {}\n\nthrow new Error(String(1 as number));\n',
  );
  assert.match(await run('thrower.ts'), /Error: 1[\s\S]*thrower\.ts:5:/);
  await writeFile(path.join(dir, 'asker.ts'), "import './nowhere.ts';");
  assert.match(await run('asker.ts'), /Cannot find module .*nowhere\.ts' imported from .*asker\.ts/);
});

test('a function made inside another one costs no call that names it, and keeps its place in traces', async (context) => {
  const dir = await folder(context);
  const file = path.join(dir, 'maker.ts');
  await writeFile(
    file,
    'export function make(): () => never { const fail = () => { throw new Error("x"); }; return fail; }\n',
  );
  const source = await (await hooksOf(path.join(dir, 'cache'), tsconfigFile, 'names')).load(file);
  assert.match(source, /__name\(\(\)=>/, 'the compiler asks for names as it did');
  assert.doesNotMatch(source, /"name",/);
  const user = path.join(dir, 'user.ts');
  await writeFile(user, "import { make } from './maker.ts';\nmake()();\n");
  const said = await promisify(execFile)(process.execPath, [...typeScriptWords, user]).catch(
    ({ stderr }: { stderr: string }) => stderr,
  );
  assert.match(String(said), /maker\.ts:1:66/);
});
