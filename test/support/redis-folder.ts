/** A folder for the files of a Redis. */
import { statfsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * In memory if there is enough: Redis waits for the disk at each write that it acknowledges, and a busy disk would dominate the
 * test. Data of a killed process survives in memory, too.
 */
const memory = '/dev/shm';
const freeBytesMin = 2 ** 30;

/** Creates an empty folder, which the caller removes. */
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
