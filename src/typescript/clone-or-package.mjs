/**
 * Our code is TypeScript in a clone, and JavaScript in the installed package: which of both this is, and how each is run. Plain
 * JavaScript without dependencies, because it is needed before anything is installed.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** True in a clone of the repository, false in the installed package: npm leaves the lock file out of what it packs. */
export const isClone = existsSync(fileURLToPath(new URL('../../package-lock.json', import.meta.url)));

/**
 * Options that make `node` run TypeScript, whatever folder it is started in.
 * @type {readonly string[]}
 */
export const typeScriptWords = ['--import', new URL('./loader.mjs', import.meta.url).href];

const folderUrl = new URL('../../dist/server/', import.meta.url);

/** Where `npm pack` puts the JavaScript that the package runs (`cli/pack/dist.mjs`). */
export const builtFolder = fileURLToPath(folderUrl);

/** @param {string} file path below the root, such as `src/cli/start.ts` @returns {string} such as `src.cli.start` */
export function builtName(file) {
  return file.replace(/\.ts$/, '').replaceAll('/', '.');
}

/** @param {string} file path below the root @returns {string} the address of its JavaScript */
export function builtUrl(file) {
  return new URL(`${builtName(file)}.js`, folderUrl).href;
}
