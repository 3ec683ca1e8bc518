/** The thread of a keeper as it is, on a machine so busy that it needs 600 ms more to begin. */
import { setTimeout as sleep } from 'node:timers/promises';

await sleep(600);
await import('../../../src/actors/ownership/keeper-thread-start.mjs');
