/** A folder for the files of a Redis. */
import { statfsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * In memory where there is enough of it: Redis waits for the disk at each write that it acknowledges, and a busy disk takes
 * longer than all that a test tries. What a process has written is there after it was killed, in memory too.
 */
const memory = '/dev/shm';
const freeBytesMin = 2 ** 30;

/** Makes an empty one. The caller removes it. */
export function redisFolder(): Promise<string> {
  return mkdtemp(path.join(isMemoryLarge() ? memory : tmpdir(), 'millrace-redis-'));
}

function isMemoryLarge(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= freeBytesMin;
  } catch {
    return false;
  }
}
