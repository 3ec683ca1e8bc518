/**
 * Imports the entry point of a process or a thread from plain JavaScript: in a clone the TypeScript, compiled to one module, in
 * the package the JavaScript that was compiled for it.
 */
import { builtUrl, isClone } from './clone-or-package.mjs';

const root = new URL('../../', import.meta.url).href;

/** @param {URL} url of a TypeScript file below our root */
export async function importOwn({ href }) {
  if (isClone) {
    const { importEntry } = await import('./own-compiler.mjs');
    await importEntry(href);
  } else await import(builtUrl(href.slice(root.length)));
}
