import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppendFsync } from '../../config/settings.ts';
import { CommandStop } from '../command-stop.ts';
import { freePort } from './ports.ts';
import { askRedis } from './redis-words.ts';
import type { Supervisor } from './supervisor.ts';

const host = '127.0.0.1';
/** Loading a large append-only file takes about a minute for 10 GB. */
const readyTimeoutMs = 300_000;
const pollMs = 50;
const leftoverTimeoutMs = 10_000;
const keptLines = 5;

/**
 * Redis ends when its standard input does: then whoever started it is gone, or wants it to end. `read` waits for that
 * in a subshell; SIGTERM makes Redis write everything to its file and end.
 */
const wrapper = `
exec 3<&0 </dev/null
redis-server "$0" 3<&- &
redis=$!
( read -r _ <&3; kill -TERM $redis ) >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait $redis
code=$?
kill $watch 2>/dev/null
wait $watch 2>/dev/null
exit $code
`;

export interface PrivateRedisOptions {
  readonly dataDir: string;
  readonly appendFsync: AppendFsync;
  readonly supervisor: Supervisor;
  readonly signal: AbortSignal;
}

/** What is written down about a private Redis, for other commands and for the next start. */
interface PrivateRedisRecord {
  readonly port: number;
  readonly password: string;
}

/**
 * Starts the private Redis of a data folder, which the caller has locked, and waits until it has loaded its file.
 * It listens on a free loopback port and wants a password that only this user can read.
 * @returns its URL @throws CommandStop when it does not start
 */
export async function startPrivateRedis(options: PrivateRedisOptions): Promise<string> {
  const folder = path.join(options.dataDir, 'redis');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await endLeftover(options.dataDir);
  const record = { port: await freePort(host), password: randomBytes(24).toString('hex') };
  const configFile = path.join(folder, 'redis.conf');
  writeSecret(configFile, redisConfig(folder, options.appendFsync, record));
  writeSecret(recordFile(options.dataDir), JSON.stringify(record));
  const lastLines: string[] = [];
  const child = options.supervisor.add('redis', {
    command: { name: 'redis', program: 'sh', words: ['-c', wrapper, configFile], env: process.env },
    endBy: 'endOfInput',
    follow: (lines) => keepLastLines(lines, lastLines),
  });
  await waitUntilLoaded(record, options.signal, () => {
    if (child.pid === undefined) throw failed(lastLines);
  });
  child.keepRunning();
  return urlOf(record);
}

/** URL of the private Redis that an `npm start` with this data folder runs or ran last; null when there was none. */
export function privateRedisUrl(dataDir: string): string | null {
  const record = readRecord(dataDir);
  return record === null ? null : urlOf(record);
}

function urlOf({ port, password }: PrivateRedisRecord): string {
  return `redis://:${password}@${host}:${port}`;
}

function redisConfig(
  folder: string,
  appendFsync: AppendFsync,
  { port, password }: PrivateRedisRecord,
): string {
  const quoted = folder.replace(/["\\]/g, '\\$&');
  return [
    `bind ${host}`,
    `port ${port}`,
    'protected-mode yes',
    `requirepass ${password}`,
    `dir "${quoted}"`,
    'appendonly yes',
    `appendfsync ${appendFsync}`,
    // The append-only file is the one truth; snapshots beside it would only cost time.
    'save ""',
    'maxmemory-policy noeviction',
    'daemonize no',
    '',
  ].join('\n');
}

/**
 * A Redis that outlived its `npm start` still writes to the file that the new one wants to load. The password proves
 * that what listens there is ours.
 */
async function endLeftover(dataDir: string): Promise<void> {
  const record = readRecord(dataDir);
  if (record === null) return;
  const deadlineMs = performance.now() + leftoverTimeoutMs;
  while ((await askRedis(host, record, 'SHUTDOWN')) !== 'noAnswer') {
    if (performance.now() > deadlineMs) {
      throw new CommandStop(
        `A redis-server of an earlier npm start still runs on port ${record.port} and does not end. Stop it, then try again.`,
      );
    }
    await sleep(pollMs);
  }
}

async function waitUntilLoaded(
  record: PrivateRedisRecord,
  signal: AbortSignal,
  requireAlive: () => void,
): Promise<void> {
  const deadlineMs = performance.now() + readyTimeoutMs;
  while ((await askRedis(host, record, 'PING')) !== 'ok') {
    requireAlive();
    if (performance.now() > deadlineMs) {
      throw new CommandStop(`The private Redis did not load its file within ${readyTimeoutMs / 1000} s.`);
    }
    await sleep(pollMs, undefined, { signal });
  }
}

function failed(lastLines: readonly string[]): CommandStop {
  return new CommandStop(`The private redis-server did not start: ${lastLines.join(' / ')}`);
}

/** Redis tells a lot that nobody asked; its last words matter when it does not start. */
function keepLastLines(lines: Readable, kept: string[]): void {
  createInterface({ input: lines }).on('line', (line) => {
    if (line.trim() === '') return;
    kept.push(line.trim());
    if (kept.length > keptLines) kept.shift();
  });
}

function recordFile(dataDir: string): string {
  return path.join(dataDir, 'redis.json');
}

function readRecord(dataDir: string): PrivateRedisRecord | null {
  const file = recordFile(dataDir);
  if (!existsSync(file)) return null;
  try {
    const { port, password } = JSON.parse(readFileSync(file, 'utf8'));
    return typeof port === 'number' && typeof password === 'string' ? { port, password } : null;
  } catch {
    return null;
  }
}

function writeSecret(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
}
