/** Lets background processes leave busy cores to fronts and Redis, where the operator wants it. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { type Niceness, nicenessMax } from '../config/settings/kinds.ts';

/**
 * Gives this process a niceness for good. When all cores are busy, processes with a lower one go first. While a core is
 * idle, nothing changes. Does nothing where that is not allowed.
 */
export function lowerPriority(niceness: Niceness): void {
  if (niceness === 0) return;
  const number = niceness === 'idle' ? nicenessMax : niceness;
  attempt(() => setPriority(number));
  if (process.platform !== 'linux') return;
  // A Linux that groups processes by session first divides the cores among the groups: sched(7), autogroup.
  attempt(() => writeFileSync('/proc/self/autogroup', String(number)));
  // A nice process still ends its slice of time before another one begins. A process of this class yields immediately.
  if (niceness === 'idle') spawnSync('chrt', ['--idle', '--all-tasks', '--pid', '0', String(process.pid)]);
}

function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // The order among processes only helps readers, so work goes on without it.
  }
}
