import { readFileSync } from 'node:fs';

/** False also for a zombie, whose parent has not noticed its end. In a container that can be a first process that never reaps. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

function isZombie(pid: number): boolean {
  try {
    return /.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
