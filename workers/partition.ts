/** Entry point of a partition worker: `npm run worker`, and `worker` in the Procfile. */
import { runProcess } from '../src/process/run-process.ts';
import { startWorker } from '../src/process/worker-role.ts';

runProcess('worker', [startWorker]);
