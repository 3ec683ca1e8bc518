/** A thread that reports its start only on request. */
import { BroadcastChannel, parentPort } from 'node:worker_threads';

new BroadcastChannel('late-keeper-thread').onmessage = () => parentPort.postMessage({ kind: 'started' });
