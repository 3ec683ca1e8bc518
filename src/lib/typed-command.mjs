// @ts-check
/**
 * How commands are typed here: the one place that knows whether this is a clone, where npm runs them, or the installed
 * package, whose program npx runs from the folder where it is installed. Plain JavaScript: it is needed before anything is installed.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** True in a clone of the repository: npm leaves the lock file out of what it packs. */
export const isClone = existsSync(fileURLToPath(new URL('../../package-lock.json', import.meta.url)));

/** `npm run types` checks the types of this repository itself. */
const ownScripts = new Map([['types', 'view-types']]);

/**
 * How a command is typed, without words of its own.
 * @param {string} name
 */
export function script(name) {
  if (!isClone) return `npx millrace ${name}`;
  return name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${ownScripts.get(name) ?? name}`;
}

/**
 * A text in which commands stand as they are typed in a clone, as they are typed here.
 * @param {string} text
 */
export function asTyped(text) {
  if (isClone) return text;
  return text
    .replaceAll(/npm run (?:view-)?([a-z]+)(?: --(?= ))?/g, 'npx millrace $1')
    .replaceAll('npm start', 'npx millrace start');
}
