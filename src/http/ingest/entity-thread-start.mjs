/** Starts `entity-thread.ts` in a thread, where Node 20 does not take over the TypeScript loader of the main thread. */
import '../../typescript/loader.mjs';

await import('./entity-thread.ts');
