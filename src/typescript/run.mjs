/** `node src/typescript/run.mjs FILE.ts` runs one of our programs, in a clone and in the package. */
import { pathToFileURL } from 'node:url';
import { importOwn } from './import-own.mjs';

// The program sees its arguments as if it were run directly.
process.argv.splice(1, 1);
await importOwn(pathToFileURL(process.argv[1]));
