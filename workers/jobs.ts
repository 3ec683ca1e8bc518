/** Entry point of a jobs process: `npm run jobs`, and `jobs` in the Procfile. */
import { startJobs } from '../src/process/jobs-role.ts';
import { runProcess } from '../src/process/run-process.ts';

runProcess('jobs', [startJobs]);
