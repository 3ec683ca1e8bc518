/** Starts `keeper-thread.ts` in a thread, which does not inherit the TypeScript loader of the main thread in Node 20. */
import { importOwn } from '../../typescript/import-own.mjs';

await importOwn(new URL('./keeper-thread.ts', import.meta.url));
