import { supervisedVariable } from '../cli/start/supervised.ts';

/** Time to drain. After it the process ends in any case. */
const drainMs = 10_000;

/**
 * Ends this process when the `npm start` that runs it is gone, even if that was killed and could tell nobody. The
 * process sends itself SIGTERM, so there is one way to drain. Without a supervisor nothing happens.
 */
export function exitWithParent(): void {
  if (process.env[supervisedVariable] !== '1') return;
  process.stdin.once('close', () => {
    setTimeout(() => process.exit(1), drainMs).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  process.stdin.resume();
  // The watch must not keep a process alive that has nothing left to do.
  if ('unref' in process.stdin) process.stdin.unref();
}
