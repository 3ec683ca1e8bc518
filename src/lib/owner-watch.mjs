/**
 * A thread in processes that run or compile tenant code. It kills the process when its parent has exited, because a process in
 * an endless loop would never notice that its input was closed.
 */
import { workerData } from 'node:worker_threads';

const lookMs = 200;

setInterval(() => {
  if (process.ppid !== workerData.owner) process.kill(process.pid, 'SIGKILL');
}, lookMs);
