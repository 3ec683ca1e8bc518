/**
 * The files of the console that a front serves (docs/design/console.md). The package contains them in `dist/console`; a clone
 * builds them. Plain JavaScript, because `npm pack` runs it too.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { isClone } from '../typescript/clone-or-package.mjs';

const packedFolder = fileURLToPath(new URL('../../dist/console', import.meta.url));

export const pageName = 'index.html';

/** @typedef {{ name: string, plain: Buffer, gzip: Buffer, br: Buffer }} ConsoleFile */

/**
 * @returns {Promise<ReadonlyMap<string, ConsoleFile>>} by name
 * @throws Error if the sources do not build, or the package has no files
 */
export async function consoleFiles() {
  const files = isClone ? await buildFiles() : await packedFiles();
  return new Map(files.map((file) => [file.name, file]));
}

/** Builds the files for the package. */
export async function packFiles() {
  await rm(packedFolder, { recursive: true, force: true });
  await mkdir(packedFolder, { recursive: true });
  for (const { name, plain, gzip, br } of await buildFiles()) {
    await writeFile(path.join(packedFolder, name), plain);
    await writeFile(path.join(packedFolder, `${name}.gz`), gzip);
    await writeFile(path.join(packedFolder, `${name}.br`), br);
  }
}

async function packedFiles() {
  const names = (await readdir(packedFolder)).filter((name) => !/\.(?:gz|br)$/.test(name));
  return await Promise.all(
    names.map(async (name) => {
      const file = path.join(packedFolder, name);
      const [plain, gzip, br] = await Promise.all([
        readFile(file),
        readFile(`${file}.gz`),
        readFile(`${file}.br`),
      ]);
      return { name, plain, gzip, br };
    }),
  );
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
  // Imported here, because the package does not have it.
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
