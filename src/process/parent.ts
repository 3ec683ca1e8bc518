import { supervisedVariable } from '../cli/start/supervised.ts';

/** Time to drain before the process ends in any case. */
const drainMs = 10_000;

/**
 * Ends this process when the `npm start` that runs it is gone, even if that was killed and could tell nobody. It sends
 * itself SIGTERM, so that there is one way to drain. Without a supervisor it does nothing.
 */
export function exitWithParent(): void {
  if (process.env[supervisedVariable] !== '1') return;
  process.stdin.once('close', () => {
    setTimeout(() => process.exit(1), drainMs).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  process.stdin.resume();
  // Watching must not keep a process alive that has nothing left to do.
  if ('unref' in process.stdin) process.stdin.unref();
}
