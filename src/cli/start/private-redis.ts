import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppendFsync } from '../../config/settings/table.ts';
import { CommandStop } from '../terminal/command-stop.ts';
import { makeFolder } from './make-folder.ts';
import {
  newLogin,
  type RedisLogin,
  redisHost,
  redisPollMs,
  startRedisChild,
  urlOf,
  writeSecret,
} from './redis-child.ts';
import { askRedis } from './redis-words.ts';
import type { Supervisor } from './supervisor.ts';

const leftoverTimeoutMs = 10_000;

export interface PrivateRedisOptions {
  readonly dataDir: string;
  readonly appendFsync: AppendFsync;
  readonly supervisor: Supervisor;
  readonly signal: AbortSignal;
}

/**
 * Starts the private Redis of a data folder, which the caller has locked, and waits until it has loaded its file.
 * It listens on a free loopback port and wants a password that only this user can read.
 * @returns its URL @throws CommandStop when it does not start
 */
export async function startPrivateRedis(options: PrivateRedisOptions): Promise<string> {
  const { dataDir, appendFsync, supervisor, signal } = options;
  const folder = path.join(dataDir, 'redis');
  makeFolder(folder, 0o700);
  await endLeftover(dataDir);
  const login = await newLogin();
  // Written down for other commands and for the next start.
  writeSecret(recordFile(dataDir), JSON.stringify(login));
  const configFile = path.join(folder, 'redis.conf');
  const config = redisConfig(folder, appendFsync);
  return await startRedisChild({ name: 'redis', login, configFile, config, supervisor, signal });
}

/**
 * Starts the Redis that messages between processes pass. It keeps nothing: what is lost with it is asked again, and
 * nobody waits for a disk.
 * @returns its URL @throws CommandStop when it does not start
 */
export async function startMessageRedis({
  dataDir,
  supervisor,
  signal,
}: Omit<PrivateRedisOptions, 'appendFsync'>): Promise<string> {
  const folder = path.join(dataDir, 'redis');
  makeFolder(folder, 0o700);
  const configFile = path.join(folder, 'messages.conf');
  const config = ['appendonly no', 'save ""'];
  return await startRedisChild({
    name: 'messages',
    login: await newLogin(),
    configFile,
    config,
    supervisor,
    signal,
  });
}

/** URL of the private Redis that an `npm start` with this data folder runs or ran last; null when there was none. */
export function privateRedisUrl(dataDir: string): string | null {
  const record = readRecord(dataDir);
  return record === null ? null : urlOf(record);
}

function redisConfig(folder: string, appendFsync: AppendFsync): string[] {
  const quoted = folder.replace(/["\\]/g, '\\$&');
  return [
    `dir "${quoted}"`,
    'appendonly yes',
    `appendfsync ${appendFsync}`,
    // The append-only file is the one truth; snapshots beside it would only cost time.
    'save ""',
    // A store that fills for the first time would be written anew at every doubling, by a child that doubles its pages.
    'auto-aof-rewrite-min-size 512mb',
  ];
}

/**
 * A Redis that outlived its `npm start` still writes to the file that the new one wants to load. The password proves
 * that what listens there is ours.
 */
async function endLeftover(dataDir: string): Promise<void> {
  const record = readRecord(dataDir);
  if (record === null) return;
  const deadlineMs = performance.now() + leftoverTimeoutMs;
  while ((await askRedis(redisHost, record, 'SHUTDOWN')) !== 'noAnswer') {
    if (performance.now() > deadlineMs) {
      throw new CommandStop(
        `A redis-server of an earlier npm start still runs on port ${record.port} and does not end. Stop it, then try again.`,
      );
    }
    await sleep(redisPollMs);
  }
}

function recordFile(dataDir: string): string {
  return path.join(dataDir, 'redis.json');
}

function readRecord(dataDir: string): RedisLogin | null {
  const file = recordFile(dataDir);
  if (!existsSync(file)) return null;
  try {
    const { port, password } = JSON.parse(readFileSync(file, 'utf8'));
    return typeof port === 'number' && typeof password === 'string' ? { port, password } : null;
  } catch {
    return null;
  }
}
