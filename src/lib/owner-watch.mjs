/**
 * Thread of a process that runs or reads what tenants wrote: ends the process when the one that started it is gone. A process
 * that is busy without end never comes to read that its input was closed.
 */
import { workerData } from 'node:worker_threads';

const lookMs = 200;

setInterval(() => {
  if (process.ppid !== workerData.owner) process.kill(process.pid, 'SIGKILL');
}, lookMs);
