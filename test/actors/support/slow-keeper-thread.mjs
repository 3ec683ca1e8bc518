/** A real keeper thread, as on a machine so busy that it needs 600 ms more to start. */
import { setTimeout as sleep } from 'node:timers/promises';

await sleep(600);
await import('../../../src/actors/ownership/keeper-thread-start.mjs');
