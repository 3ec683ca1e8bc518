/**
 * The files of the console that a front serves (docs/design/console.md). The package contains them in `dist/console`. In a
 * clone, the first front builds and caches them next to the compiled files of the platform (`kept-files.mjs`). Plain
 * JavaScript, because `npm pack` runs it too.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { isClone } from '../typescript/clone-or-package.mjs';
import { keepFiles, keptFiles, readFiles, writeFiles } from './kept-files.mjs';

const sourceFolder = fileURLToPath(new URL('./', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));

/** Platform code that the console's script includes. */
const shared = ['../contract/view-title.ts'];

const packedFolder = path.join(root, 'dist/console');
const keptFolder = path.join(root, 'node_modules/.cache/millrace/console');

export const pageName = 'index.html';

/** @typedef {import('./kept-files.mjs').ConsoleFile} ConsoleFile */

/**
 * The files of the package; in a clone from the cache, or built now.
 * @returns {Promise<ReadonlyMap<string, ConsoleFile>>} by name
 * @throws Error if the sources do not build, or the package has no files
 */
export async function consoleFiles() {
  if (!isClone) return byName(await readFiles(packedFolder));
  const digest = await sourceDigest();
  const ready = await keptFiles(keptFolder, digest);
  if (ready !== null) return byName(ready);
  const made = await buildFiles();
  // If sources have changed meanwhile, the files would be cached under the wrong digest.
  const isSame = (await sourceDigest()) === digest;
  // Without write access nothing is cached, and the next front builds the files again.
  if (isSame) await keepFiles(keptFolder, digest, made).catch(() => undefined);
  return byName(made);
}

/** Builds the files for the package. */
export async function packFiles() {
  await rm(packedFolder, { recursive: true, force: true });
  await mkdir(packedFolder, { recursive: true });
  await writeFiles(packedFolder, await buildFiles());
}

function byName(files) {
  return new Map(files.map((file) => [file.name, file]));
}

/** Digest of everything that the files are built from. */
async function sourceDigest() {
  const hash = createHash('sha256');
  const entries = await readdir(sourceFolder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  for (const name of names) {
    hash.update(path.relative(sourceFolder, name)).update('\0');
    hash.update(await readFile(name)).update('\0');
  }
  for (const file of shared) hash.update(await readFile(new URL(file, import.meta.url))).update('\0');
  const require = createRequire(import.meta.url);
  for (const name of ['esbuild', 'preact']) hash.update(require(`${name}/package.json`).version);
  return hash.digest('hex');
}

async function buildFiles() {
  return await Promise.all((await bundle()).map(([name, plain]) => withForms(name, plain)));
}

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

async function withForms(name, plain) {
  const [gzipped, br] = await Promise.all([compressGzip(plain, { level: 9 }), compressBrotli(plain)]);
  return { name, plain, gzip: gzipped, br };
}

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Builds a script, a style sheet and the page that links them, with esbuild.
 * @returns {Promise<[name: string, content: Buffer][]>}
 */
async function bundle() {
  // Imported here, so that a front with cached files does not load it.
  const { build, stop } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: { console: pathOf('main.tsx') },
    outdir: pathOf('./'),
    entryNames: '[name]-[hash]',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
  });
  // Otherwise esbuild's process would live as long as this one.
  await stop();
  const assets = outputFiles.map(({ path: file, contents }) => [path.basename(file), Buffer.from(contents)]);
  const named = (extension) => assets.map(([name]) => name).find((name) => name.endsWith(extension));
  const page = (await readFile(pathOf('index.html'), 'utf8'))
    .replace('STYLES', named('.css'))
    .replace('SCRIPT', named('.js'));
  return [...assets, ['icon.svg', await readFile(pathOf('icon.svg'))], ['index.html', Buffer.from(page)]];
}
