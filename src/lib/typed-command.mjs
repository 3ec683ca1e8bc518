// @ts-check
/**
 * The way in which users type commands: with npm in a clone, with npx for an installed package. Plain JavaScript, because it
 * runs before anything is installed.
 */
import { isClone } from '../typescript/clone-or-package.mjs';

/** Commands with another npm script name: `npm run types` type-checks this repository. */
const ownScripts = new Map([['types', 'view-types']]);

/**
 * The command line of a command without arguments.
 * @param {string} name
 */
export function script(name) {
  if (!isClone) return `npx millrace ${name}`;
  return name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${ownScripts.get(name) ?? name}`;
}

/**
 * Rewrites the commands in a text, which are as in a clone, to the form that works here.
 * @param {string} text
 */
export function asTyped(text) {
  if (isClone) return text;
  return text
    .replaceAll(/npm run (?:view-)?([a-z]+)(?: --(?= ))?/g, 'npx millrace $1')
    .replaceAll('npm start', 'npx millrace start');
}
