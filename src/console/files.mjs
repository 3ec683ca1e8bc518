/**
 * The files of the console as a front serves them (docs/design/console.md). The package brings them in `dist/console`. In
 * a clone the first front makes them, and keeps them beside the compiled files of the platform (`kept-files.mjs`). Plain
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

/** Code of the platform that is in the console's script too. */
const shared = ['../contract/view-title.ts'];

const packedFolder = path.join(root, 'dist/console');
const keptFolder = path.join(root, 'node_modules/.cache/millrace/console');

export const pageName = 'index.html';

/** @typedef {import('./kept-files.mjs').ConsoleFile} ConsoleFile */

/**
 * The files: those of the package; in a clone as they were kept, or made now.
 * @returns {Promise<ReadonlyMap<string, ConsoleFile>>} by name
 * @throws Error when the sources do not build, or the package has none
 */
export async function consoleFiles() {
  if (!isClone) return byName(await readFiles(packedFolder));
  const digest = await sourceDigest();
  const ready = await keptFiles(keptFolder, digest);
  if (ready !== null) return byName(ready);
  const made = await makeFiles();
  // Sources that changed meanwhile would be kept under the digest of others.
  const isSame = (await sourceDigest()) === digest;
  // Where nothing can be written, nothing is kept, and the next front makes them again.
  if (isSame) await keepFiles(keptFolder, digest, made).catch(() => undefined);
  return byName(made);
}

/** Makes the files for the package. */
export async function packFiles() {
  await rm(packedFolder, { recursive: true, force: true });
  await mkdir(packedFolder, { recursive: true });
  await writeFiles(packedFolder, await makeFiles());
}

function byName(files) {
  return new Map(files.map((file) => [file.name, file]));
}

/** Digest of everything that the files are made of. */
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

async function makeFiles() {
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
 * Makes one script, one style sheet and the page that names them, with esbuild.
 * @returns {Promise<[name: string, content: Buffer][]>}
 */
async function bundle() {
  // A front that has the files already does not load it.
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
  // Its process would live as long as ours.
  await stop();
  const assets = outputFiles.map(({ path: file, contents }) => [path.basename(file), Buffer.from(contents)]);
  const named = (extension) => assets.map(([name]) => name).find((name) => name.endsWith(extension));
  const page = (await readFile(pathOf('index.html'), 'utf8'))
    .replace('STYLES', named('.css'))
    .replace('SCRIPT', named('.js'));
  return [...assets, ['icon.svg', await readFile(pathOf('icon.svg'))], ['index.html', Buffer.from(page)]];
}
