/** Entry point of a small machine: a front, a worker and jobs in one process, `npm run small` and `npm start -- --small`. */
import { startFront } from '../src/process/front-role.ts';
import { startJobs } from '../src/process/jobs-role.ts';
import { runProcess } from '../src/process/run-process.ts';
import { startWorker } from '../src/process/worker-role.ts';

runProcess('small', [startFront, startWorker, startJobs]);
