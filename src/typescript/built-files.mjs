/** Where `npm pack` puts the JavaScript that the package runs (`cli/pack/server.mjs`), and what its files are called. */
import { fileURLToPath } from 'node:url';

const folderUrl = new URL('../../dist/server/', import.meta.url);

export const builtFolder = fileURLToPath(folderUrl);

/** @param {string} file path below the root, such as `src/cli/start.ts` @returns {string} such as `src.cli.start` */
export function builtName(file) {
  return file.replace(/\.ts$/, '').replaceAll('/', '.');
}

/** @param {string} file path below the root @returns {string} the address of its JavaScript */
export function builtUrl(file) {
  return new URL(`${builtName(file)}.js`, folderUrl).href;
}
