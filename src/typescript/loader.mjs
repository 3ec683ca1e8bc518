/**
 * `node --import ./src/typescript/loader.mjs FILE.ts` runs TypeScript in a clone. In the package it does nothing
 * (`import-own.mjs`). This file is plain JavaScript, because nothing else can run yet. Threads import it too, because in
 * Node 20 they do not inherit the loader of the main thread.
 */
import { createRequire, register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isClone } from './clone-or-package.mjs';

if (isClone) registerCompiler();

function registerCompiler() {
  const root = new URL('../../', import.meta.url);
  /** The path of a file in the repository. */
  const pathOf = (name) => fileURLToPath(new URL(name, root));
  // Makes stack traces show the lines of the TypeScript.
  process.setSourceMapsEnabled(true);
  register('./hooks.mjs', {
    parentURL: import.meta.url,
    data: {
      cacheDir: pathOf('node_modules/.cache/millrace/'),
      tsconfigFile: pathOf('tsconfig.json'),
      esbuildPackageFile: createRequire(import.meta.url).resolve('esbuild/package.json'),
      root: root.href,
    },
  });
}
