/** A thread that says that it has begun only when it is asked to. */
import { BroadcastChannel, parentPort } from 'node:worker_threads';

new BroadcastChannel('late-keeper-thread').onmessage = () => parentPort.postMessage({ kind: 'started' });
