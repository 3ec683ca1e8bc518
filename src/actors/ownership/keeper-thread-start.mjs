/** Starts `keeper-thread.ts` in a thread, where Node 20 does not take over the TypeScript loader of the main thread. */
import { importOwn } from '../../typescript/import-own.mjs';

await importOwn(new URL('./keeper-thread.ts', import.meta.url));
