/** `node src/typescript/run.mjs FILE.ts` runs a process of ours, in a clone and in the package. */
import { pathToFileURL } from 'node:url';
import { importOwn } from './import-own.mjs';

// What runs sees the arguments as if it were the program.
process.argv.splice(1, 1);
await importOwn(pathToFileURL(process.argv[1]));
