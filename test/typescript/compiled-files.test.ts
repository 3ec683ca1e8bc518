import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
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
    bundle: async (file: string) => Buffer.from(await files.read('bundle', file)).toString(),
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
  assert.match(await files.bundle(entry), /part = \[1\]/);
  assert.equal(await files.bundle(entry), await files.bundle(entry));
  assert.equal(files.compiled(), 2);
  await writeFile(part, 'export const part: number[] = [2];');
  assert.match(await files.bundle(entry), /part = \[2\]/);
  assert.equal(files.compiled(), 3);
  await rm(part);
  await assert.rejects(files.bundle(entry), /Could not resolve/);
});

test('compiled files: a file of a bundle knows its own URL, and packages stay external', async (context) => {
  const dir = await folder(context);
  const [entry, part] = [path.join(dir, 'entry.ts'), path.join(dir, 'part.ts')];
  await writeFile(path.join(dir, 'package.json'), '{"version":"1"}');
  await writeFile(part, 'export const beside: string = import.meta.url;');
  await writeFile(
    entry,
    "import { pino } from 'pino';\nimport { beside } from './part.ts';\nexport const all = [pino, beside, import.meta.url];",
  );
  const source = await processOf(path.join(dir, 'cache'), path.join(dir, 'package.json')).bundle(entry);
  assert.match(source, /from "pino"/);
  for (const file of [entry, part]) assert.ok(source.includes(JSON.stringify(pathToFileURL(file).href)));
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
