/**
 * Entry point of the sandbox process; its argument is the process id of its owner. Loads TypeScript before the realm is locked.
 */
import { Worker } from 'node:worker_threads';
import { importOwn } from '../../typescript/import-own.mjs';

new Worker(new URL('../../lib/owner-watch.mjs', import.meta.url), {
  workerData: { owner: Number(process.argv[2]) },
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
}).unref();

await importOwn(new URL('./main.ts', import.meta.url));
