/** Starts `keeper-thread.ts` in a thread, where Node 20 does not take over the TypeScript loader of the main thread. */
import '../../typescript/loader.mjs';

await import('./keeper-thread.ts');
