/**
 * Determines whether this is a clone, whose code is TypeScript, or the installed package, whose code is JavaScript, and how to
 * run each. Plain JavaScript without dependencies, because it is needed before anything is installed.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** True in a clone of the repository, false in the installed package, because npm does not pack the lock file. */
export const isClone = existsSync(fileURLToPath(new URL('../../package-lock.json', import.meta.url)));

/**
 * Options that make `node` run TypeScript, in any working directory. Each file is compiled by itself, as tests need it.
 * @type {readonly string[]}
 */
export const typeScriptWords = ['--import', new URL('./loader.mjs', import.meta.url).href];

/**
 * Arguments of `node` that come before one of our programs, as in the Procfile. Programs start faster so.
 * @type {readonly string[]}
 */
export const programWords = [fileURLToPath(new URL('./run.mjs', import.meta.url))];

const folderUrl = new URL('../../dist/server/', import.meta.url);

/** The folder of the package's JavaScript, written by `npm pack` (`cli/pack/dist.mjs`). */
export const builtFolder = fileURLToPath(folderUrl);

/**
 * @param {string} file path below the root, such as `src/cli/start.ts`
 * @returns {string} such as `src.cli.start`
 */
export function builtName(file) {
  return file.replace(/\.ts$/, '').replaceAll('/', '.');
}

/**
 * @param {string} file path below the root
 * @returns {string} the URL of its JavaScript
 */
export function builtUrl(file) {
  return new URL(`${builtName(file)}.js`, folderUrl).href;
}
