import { supervisedVariable } from '../cli/start/supervised.ts';

/**
 * Ends this process when the `npm start` that runs it is gone, even if that was killed and could tell nobody. The
 * process sends itself SIGTERM, so there is one way to drain. Without a supervisor nothing happens.
 */
export function exitWithParent(): void {
  if (process.env[supervisedVariable] !== '1') return;
  process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM'));
  process.stdin.resume();
  // The watch must not keep a process alive that has nothing left to do.
  if ('unref' in process.stdin) process.stdin.unref();
}
