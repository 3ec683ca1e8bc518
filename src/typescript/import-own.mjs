/**
 * Imports one of our modules from plain JavaScript: in a clone the TypeScript, in the package the compiled JavaScript. The
 * package needs no hooks, which would run in a separate thread in every process.
 */
import './loader.mjs';
import { builtUrl, isClone } from './clone-or-package.mjs';

const root = new URL('../../', import.meta.url).href;

/** @param {URL} url of a TypeScript file below our root */
export async function importOwn({ href }) {
  await import(isClone ? href : builtUrl(href.slice(root.length)));
}
