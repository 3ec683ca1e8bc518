/** A real keeper thread that exits on a message on the channel `end-keeper-thread`. */
import { BroadcastChannel } from 'node:worker_threads';

const channel = new BroadcastChannel('end-keeper-thread');
channel.onmessage = () => process.exit();
await import('../../../src/actors/ownership/keeper-thread-start.mjs');
