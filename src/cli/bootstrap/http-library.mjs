// @ts-check
/**
 * Checks whether the HTTP library works here: it has native binaries for some Node versions and platforms only. Plain
 * JavaScript, because `npm start` checks this before anything else runs.
 */
import { createRequire } from 'node:module';

/** Loads the library. @throws Error with a one-line message that says what to do */
export function loadHttpLibrary() {
  try {
    createRequire(import.meta.url)('uWebSockets.js');
  } catch (error) {
    throw new Error(libraryError(error instanceof Error ? error.message : String(error)));
  }
}

/**
 * @param {string} reason error message of the library
 * @returns {string}
 */
export function libraryError(reason) {
  const [major = ''] = process.versions.node.split('.');
  const glibc = /version `?GLIBC_([\d.]+)'? not found/.exec(reason)?.[1];
  if (glibc !== undefined) {
    return (
      `The HTTP library uWebSockets.js needs glibc ${glibc} or newer with Node ${major}, and this system has an older one. ` +
      'Use Node 20 here, or a newer system such as Debian 13 or Ubuntu 24.04.'
    );
  }
  const lastLine = reason.trim().split('\n').at(-1);
  return `The HTTP library uWebSockets.js does not run with Node ${process.versions.node} on this system (${lastLine}). Use Node 20, 22 or 24 on Linux with glibc, macOS or Windows.`;
}
