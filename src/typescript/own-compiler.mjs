/** Runs our TypeScript in a clone. The package has none. */
import { createRequire, register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Compiler } from './compile.mjs';
import { CompiledFiles } from './compiled-files.mjs';

const root = new URL('../../', import.meta.url);

const paths = {
  cacheDir: pathOf('node_modules/.cache/millrace/'),
  tsconfigFile: pathOf('tsconfig.json'),
  esbuildPackageFile: createRequire(import.meta.url).resolve('esbuild/package.json'),
};

function pathOf(name) {
  return fileURLToPath(new URL(name, root));
}

/** Lets `import` compile TypeScript, in a separate thread. */
export function registerHooks() {
  // Makes stack traces show the lines of the TypeScript.
  process.setSourceMapsEnabled(true);
  register('./hooks.mjs', { parentURL: import.meta.url, data: paths });
}

/**
 * Imports the entry point of a process or a thread, and all that it imports, as one module from the cache. This is a fast path:
 * with hooks, and with packages that Node loads file by file, a platform takes 1.46 times the processor time until it is ready
 * (bench/README.md "Fast paths").
 * @param {string} href URL of a TypeScript file
 */
export async function importEntry(href) {
  const bundle = await bundleOf(href);
  if (bundle === null) registerHooks();
  else process.setSourceMapsEnabled(true);
  await import(bundle ?? href);
}

async function bundleOf(href) {
  // The report of the coverage finds our code by its URLs.
  if (process.env.NODE_V8_COVERAGE !== undefined) return null;
  const compiler = new Compiler(paths.tsconfigFile, paths.esbuildPackageFile);
  const file = await new CompiledFiles(paths.cacheDir, compiler).module(fileURLToPath(href));
  return file === null ? null : pathToFileURL(file).href;
}
