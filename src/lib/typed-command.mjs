// @ts-check
/**
 * How users type commands: with npm in a clone, and with npx where the package is installed. Plain JavaScript, because it is
 * needed before anything is installed.
 */
import { isClone } from '../typescript/clone-or-package.mjs';

/** `npm run types` checks the types of this repository itself. */
const ownScripts = new Map([['types', 'view-types']]);

/**
 * How to type a command without arguments.
 * @param {string} name
 */
export function script(name) {
  if (!isClone) return `npx millrace ${name}`;
  return name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${ownScripts.get(name) ?? name}`;
}

/**
 * A text in which commands are as they are typed in a clone, as they are typed here.
 * @param {string} text
 */
export function asTyped(text) {
  if (isClone) return text;
  return text
    .replaceAll(/npm run (?:view-)?([a-z]+)(?: --(?= ))?/g, 'npx millrace $1')
    .replaceAll('npm start', 'npx millrace start');
}
