/**
 * `node --import ./src/typescript/loader.mjs FILE.ts` runs TypeScript in a clone. In the package it does nothing
 * (`import-own.mjs`). This file is plain JavaScript, because nothing else can run yet.
 */
import { isClone } from './clone-or-package.mjs';

if (isClone) {
  const { registerHooks } = await import('./own-compiler.mjs');
  registerHooks();
}
