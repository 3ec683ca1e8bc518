import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Compiler } from '../../src/typescript/compile.mjs';
import { CompiledFiles } from '../../src/typescript/compiled-files.mjs';

const tsconfigFile = path.resolve('tsconfig.json');

async function folder(context: TestContext): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'millrace-'));
  context.after(() => rm(made, { recursive: true }));
  return made;
}

/** The files of one process. @returns its reads, and how often it compiled */
function processOf(cacheDir: string, esbuildPackageFile: string) {
  const compiler = new Compiler(tsconfigFile, esbuildPackageFile);
  let compiled = 0;
  const counted = (how: 'compile' | 'bundle' | 'wrap') => (file: string) => {
    compiled += 1;
    return compiler[how](file);
  };
  const files = new CompiledFiles(cacheDir, {
    madeBy: compiler.madeBy,
    compile: counted('compile'),
    bundle: counted('bundle'),
    wrap: counted('wrap'),
  });
  return {
    read: async (file: string) => Buffer.from(await files.read('compile', file)).toString(),
    module: (file: string) => files.module(file),
    bundle: async (file: string) => await readFile((await files.module(file)) ?? '', 'utf8'),
    wrap: async (file: string) => Buffer.from(await files.read('wrap', file)).toString(),
    compiled: () => compiled,
  };
}

test('compiled files: a file is compiled once, and again if it or the compiler has changed or the cached result is corrupt', async (context) => {
  const dir = await folder(context);
  const file = path.join(dir, 'sum.ts');
  const packageFile = path.join(dir, 'package.json');
  const cacheDir = path.join(dir, 'cache');
  await writeFile(packageFile, '{"version":"1"}');
  await writeFile(file, 'export const sum: number = 1 + 2;');
  const first = processOf(cacheDir, packageFile);
  const source = await first.read(file);
  assert.match(source, /^const sum = 1 \+ 2;\nexport/);
  const second = processOf(cacheDir, packageFile);
  assert.equal(await second.read(file), source);
  assert.deepEqual([first.compiled(), second.compiled()], [1, 0]);

  await writeFile(file, 'export const sum: number = 4;');
  assert.match(await second.read(file), /^const sum = 4/);
  assert.equal(second.compiled(), 1);
  await writeFile(packageFile, '{"version":"2"}');
  const upgraded = processOf(cacheDir, packageFile);
  await upgraded.read(file);
  assert.equal(upgraded.compiled(), 1);

  const [kept = ''] = await readdir(cacheDir);
  for (const broken of ['', '{"madeOf":[]', '{"madeOf":[],"digest":""}\nconst su']) {
    await writeFile(path.join(cacheDir, kept), broken);
    assert.match(await upgraded.read(file), /^const sum = 4/);
  }
  assert.deepEqual(await readdir(cacheDir), [kept], 'one file, and no temporary one');
});

test('compiled files: a bundle is built again if one of its files has changed or is gone', async (context) => {
  const dir = await folder(context);
  const [entry, part] = [path.join(dir, 'entry.ts'), path.join(dir, 'parts', 'part.ts')];
  await writeFile(path.join(dir, 'package.json'), '{"version":"1"}');
  const files = processOf(path.join(dir, 'cache'), path.join(dir, 'package.json'));
  await writeFile(entry, "import { part } from './parts/part.ts';\nexport const all = part;");
  await assert.rejects(files.bundle(entry), /entry\.ts:1:21: ERROR: Could not resolve "\.\/parts\/part\.ts"/);
  await mkdir(path.dirname(part));
  await writeFile(part, 'export const part: number[] = [1];');
  assert.match(await files.bundle(entry), /part=\[1\]/);
  assert.equal(await files.bundle(entry), await files.bundle(entry));
  assert.equal(files.compiled(), 2);
  await writeFile(part, 'export const part: number[] = [2];');
  assert.match(await files.bundle(entry), /part=\[2\]/);
  assert.equal(files.compiled(), 3);
  await rm(part);
  await assert.rejects(files.bundle(entry), /Could not resolve/);
});

test('compiled files: a bundle is a module with its packages, whose files know their own URLs', async (context) => {
  const dir = await folder(context);
  const [entry, part] = [path.join(dir, 'entry.ts'), path.join(dir, 'parts', 'part.ts')];
  const installed = path.join(dir, 'node_modules', 'old');
  for (const made of [path.dirname(part), installed]) await mkdir(made, { recursive: true });
  await writeFile(path.join(dir, 'package.json'), '{"version":"1"}');
  await writeFile(path.join(installed, 'package.json'), '{"version":"1"}');
  await writeFile(
    path.join(installed, 'index.js'),
    "exports.separator = require('path').sep; exports.form = 1;",
  );
  await writeFile(part, 'export const beside: string = import.meta.url;');
  await writeFile(
    entry,
    "import { form, separator } from 'old';\nimport { beside } from './parts/part.ts';\nexport const all = [form, separator, beside, import.meta.url];",
  );
  const files = processOf(path.join(dir, 'cache'), path.join(dir, 'package.json'));
  const importAll = async () => {
    const made = await files.module(entry);
    // The query makes Node load the file again.
    const { all } = await import(`${pathToFileURL(made ?? '').href}?${files.compiled()}`);
    return all;
  };
  const urls = [part, entry].map((file) => pathToFileURL(file).href);
  assert.deepEqual(await importAll(), [1, path.sep, ...urls]);
  await writeFile(path.join(installed, 'index.js'), 'exports.form = 2;');
  await writeFile(path.join(installed, 'package.json'), '{"version":"2"}');
  assert.deepEqual(await importAll(), [2, undefined, ...urls]);
  assert.equal(await files.module(entry), await files.module(entry));
  assert.equal(files.compiled(), 2, 'a package is known by its version');
});

test('compiled files: traces of a bundle have the lines of each file', async (context) => {
  const dir = await folder(context);
  const [entry, part] = [path.join(dir, 'entry.ts'), path.join(dir, 'parts', 'part.ts')];
  await mkdir(path.dirname(part));
  await writeFile(path.join(dir, 'package.json'), '{"version":"1"}');
  await writeFile(part, '\n\nthrow new Error(String(1 as number));\n');
  await writeFile(entry, "interface A {}\nimport './parts/part.ts';\n");
  const module = await processOf(path.join(dir, 'cache'), path.join(dir, 'package.json')).module(entry);
  const { stderr } = spawnSync(process.execPath, ['--enable-source-maps', module ?? ''], {
    encoding: 'utf8',
  });
  assert.match(stderr, /Error: 1\n\s+at .*\/parts\/part\.ts:3:7/);
});

test('compiled files: everything runs without a writable cache as well', async (context) => {
  const dir = await folder(context);
  const file = path.join(dir, 'one.ts');
  const packageFile = path.join(dir, 'package.json');
  await writeFile(packageFile, '{"version":"1"}');
  await writeFile(file, 'export const one: number = 1;');
  const files = processOf(path.join(file, 'no-folder'), packageFile);
  await files.read(file);
  await files.read(file);
  assert.equal(files.compiled(), 2);
  assert.equal(await files.module(file), null);
});

test('compiled files: a package in CommonJS is analyzed once, and again in another version', async (context) => {
  const dir = await folder(context);
  await writeFile(path.join(dir, 'package.json'), '{"version":"1"}');
  const [cacheDir, packageFile] = [path.join(dir, 'cache'), path.join(dir, 'package.json')];
  const installed = path.join(dir, 'node_modules', '@old', 'one');
  const file = path.join(installed, 'lib', 'main.js');
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(path.join(installed, 'package.json'), '{"version":"1"}');
  await writeFile(path.join(installed, 'lib', 'part.js'), 'exports.part = 1;');
  await writeFile(file, "Object.assign(exports, require('./part.js'), { default: 2, 'two words': 3 });");
  const first = processOf(cacheDir, packageFile);
  const source = await first.wrap(file);
  const module = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  assert.deepEqual(
    { ...module },
    { default: { part: 1, default: 2, 'two words': 3 }, part: 1, 'two words': 3 },
  );

  const second = processOf(cacheDir, packageFile);
  assert.equal(await second.wrap(file), source);
  assert.equal(second.compiled(), 0);
  await writeFile(path.join(installed, 'package.json'), '{"version":"2"}');
  await second.wrap(file);
  assert.equal(second.compiled(), 1);
});
