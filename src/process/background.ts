/** Readers first, where the operator wants it: processes of the background leave busy cores to fronts and Redis. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { type Niceness, nicenessMax } from '../config/settings/kinds.ts';

/**
 * Gives this process a niceness for good: whoever is below it goes first when all cores are busy, and nothing changes
 * while one is idle. Does nothing where that is not allowed.
 */
export function stepBack(niceness: Niceness): void {
  if (niceness === 0) return;
  const number = niceness === 'idle' ? nicenessMax : niceness;
  attempt(() => setPriority(number));
  if (process.platform !== 'linux') return;
  // A Linux that groups processes by session shares the cores out among the groups first: sched(7), autogroup.
  attempt(() => writeFileSync('/proc/self/autogroup', String(number)));
  // However nice, a process that runs ends its slice of time before another begins; this class yields at once.
  if (niceness === 'idle') spawnSync('chrt', ['--idle', '--all-tasks', '--pid', '0', String(process.pid)]);
}

function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // Order among processes is a favour to readers; work goes on without.
  }
}
