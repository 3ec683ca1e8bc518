/**
 * Imports a module of ours that plain JavaScript starts: in a clone its TypeScript, in the package the JavaScript that was
 * made of it. The package needs no hooks, which would run in a thread of their own in every process.
 */
import './loader.mjs';
import { builtUrl, isClone } from './clone-or-package.mjs';

const root = new URL('../../', import.meta.url).href;

/** @param {URL} url of a file in TypeScript, below our root */
export async function importOwn({ href }) {
  await import(isClone ? href : builtUrl(href.slice(root.length)));
}
