/** Entry point of an HTTP front: `npm run web`, and `web` in the Procfile. */
import { startFront } from '../src/process/front-role.ts';
import { runProcess } from '../src/process/run-process.ts';

runProcess('web', [startFront]);
