/** Starts `thread.ts` in a thread, where Node 20 does not take over the TypeScript loader of the main thread. */
import '../../../src/typescript/loader.mjs';

await import('./thread.ts');
