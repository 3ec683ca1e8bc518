/** Readers first, where the operator wants it: processes of the background leave busy cores to fronts and Redis. */
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Gives this process a niceness for good: whoever is below it goes first when all cores are busy, and nothing changes
 * while one is idle. Does nothing where that is not allowed.
 * @param niceness 0 (as others) to 19
 */
export function stepBack(niceness: number): void {
  if (niceness === 0) return;
  attempt(() => setPriority(niceness));
  // A Linux that groups processes by session shares the cores out among the groups first: sched(7), autogroup.
  if (process.platform === 'linux') attempt(() => writeFileSync('/proc/self/autogroup', String(niceness)));
}

function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // Order among processes is a favour to readers; work goes on without.
  }
}
