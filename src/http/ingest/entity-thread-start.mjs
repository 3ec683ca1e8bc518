/** Starts `entity-thread.ts` in a thread, because Node 20 does not apply the TypeScript loader of the main thread there. */
import { importOwn } from '../../typescript/import-own.mjs';

await importOwn(new URL('./entity-thread.ts', import.meta.url));
