import { chmodSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppendFsync } from '../../config/settings/table.ts';
import { loginFile, readLogin, redisHost } from '../platform/private-redis-login.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { makeFolder } from './data-dir.ts';
import { askRedis, newLogin, redisPollMs, startRedisChild, writeSecret } from './redis-child.ts';
import type { Supervisor } from './supervisor.ts';

const orphanTimeoutMs = 10_000;
/** Permission bits of group and others. */
const othersMode = 0o077;

export interface PrivateRedisOptions {
  readonly dataDir: string;
  readonly appendFsync: AppendFsync;
  /** `maxmemory` in bytes; absent or null for no limit. */
  readonly bytesMax?: number | null;
  readonly supervisor: Supervisor;
  readonly signal: AbortSignal;
}

/**
 * Starts the private Redis of a data folder, and waits until it has loaded its file. The caller must have locked the folder.
 * Redis listens on a free loopback port, with a password that only this user can read.
 * @returns its URL
 * @throws CommandStop if it does not start
 */
export async function startPrivateRedis(options: PrivateRedisOptions): Promise<string> {
  const { dataDir, appendFsync, bytesMax = null, supervisor, signal } = options;
  const folder = path.join(dataDir, 'redis');
  makeFolder(folder, 0o700);
  keepPrivate(dataDir, folder, (text) => supervisor.say(text));
  await stopOrphan(dataDir);
  const login = await newLogin();
  // Other commands and the next start read the login from this file.
  writeSecret(loginFile(dataDir), JSON.stringify(login));
  const configFile = path.join(folder, 'redis.conf');
  const config = redisConfig(folder, appendFsync, bytesMax);
  return await startRedisChild({ name: 'redis', login, configFile, config, supervisor, signal });
}

/**
 * Existing folders may be accessible to others. The permissions of the Redis folder are corrected; for the data folder, which
 * may be shared on purpose, there is only a warning.
 */
function keepPrivate(dataDir: string, redisFolder: string, say: (text: string) => void): void {
  if ((statSync(redisFolder).mode & othersMode) !== 0) chmodSync(redisFolder, 0o700);
  if ((statSync(dataDir).mode & othersMode) === 0) return;
  say(`DATA_DIR is accessible to other users of this machine. To restrict it: chmod 700 ${dataDir}`);
}

function redisConfig(folder: string, appendFsync: AppendFsync, bytesMax: number | null): string[] {
  const quoted = folder.replace(/["\\]/g, '\\$&');
  return [
    `dir "${quoted}"`,
    'appendonly yes',
    `appendfsync ${appendFsync}`,
    // The append-only file has all data, so snapshots are not needed.
    'save ""',
    // Otherwise Redis would rewrite the file each time its size doubles while a store fills, in a forked process.
    'auto-aof-rewrite-min-size 512mb',
    ...(bytesMax === null ? [] : [`maxmemory ${bytesMax}`]),
  ];
}

/**
 * Stops a Redis that outlived its `npm start`, because it still writes to the file that the new one loads. The password
 * identifies it.
 */
async function stopOrphan(dataDir: string): Promise<void> {
  const login = readLogin(dataDir);
  if (login === null) return;
  const deadlineMs = performance.now() + orphanTimeoutMs;
  while ((await askRedis(redisHost, login, 'SHUTDOWN')) !== 'noAnswer') {
    if (performance.now() > deadlineMs) {
      throw new CommandStop(
        `A redis-server of an earlier npm start is still running on port ${login.port} and does not stop. Stop it, then try again.`,
      );
    }
    await sleep(redisPollMs);
  }
}
