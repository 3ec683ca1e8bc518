/**
 * `node --import ./src/typescript/loader.mjs FILE.ts` runs TypeScript in a clone. This file is plain JavaScript, because nothing
 * else can run yet.
 */
import { registerHooks } from './own-compiler.mjs';

registerHooks();
