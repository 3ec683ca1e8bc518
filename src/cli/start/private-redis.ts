/** The private Redis of a data folder: a `redis-server` as a child process that ends with its parent. */
import { randomBytes } from 'node:crypto';
import { chmodSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppendFsync } from '../../config/settings/table.ts';
import { reasonOf } from '../../lib/message-text.ts';
import { writeWhole } from '../../lib/whole-file.ts';
import { loginFile, type RedisLogin, readLogin, redisHost, urlOf } from '../platform/private-redis-login.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { makeFolder } from './data-dir.ts';
import { freePort } from './ports.ts';
import type { Supervisor } from './supervisor.ts';

/** Timeout for loading the file: Redis loads about 10 GB of an append-only file per minute. */
const readyTimeoutMs = 300_000;
const orphanTimeoutMs = 10_000;
const pollMs = 50;
const keptLines = 5;
/** Permission bits of group and others. */
const othersMode = 0o077;

/**
 * Stops Redis when its standard input is closed, which means that the parent has ended or wants it to stop. `read` waits for
 * that in a subshell. On SIGTERM Redis writes everything to its file and ends.
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
  /** `maxmemory` in bytes; absent or null for no limit. */
  readonly bytesMax?: number | null;
  readonly supervisor: Supervisor;
  readonly signal: AbortSignal;
}

/**
 * Starts the private Redis of a data folder, waits until it has loaded its file, and keeps it running. The caller must have
 * locked the folder. Redis listens on a free loopback port, with a password that only this user can read.
 * @returns its URL
 * @throws CommandStop if it does not start
 */
export async function startPrivateRedis(options: PrivateRedisOptions): Promise<string> {
  const { dataDir, supervisor, signal } = options;
  const folder = path.join(dataDir, 'redis');
  makeFolder(folder, 0o700);
  keepPrivate(dataDir, folder, (text) => supervisor.say(text));
  await stopOrphan(dataDir);
  const login = { port: await freePort(redisHost), password: randomBytes(24).toString('hex') };
  // Other commands and the next start read the login from this file.
  writeSecret(loginFile(dataDir), JSON.stringify(login));
  const configFile = path.join(folder, 'redis.conf');
  writeSecret(configFile, redisConfig(folder, login, options));
  const lastLines: string[] = [];
  // The other processes need it while they stop, so it has the role that is stopped last.
  const child = supervisor.add('redis', {
    command: { name: 'redis', program: 'sh', words: ['-c', wrapper, configFile], env: process.env },
    endBy: 'endOfInput',
    follow: (lines) => followRedis(lines, lastLines, (text) => supervisor.say(text)),
    lastLines,
  });
  await waitUntilLoaded(login, signal, () => {
    if (child.pid !== undefined) return;
    throw new CommandStop(`The private redis-server did not start: ${lastLines.join(' / ')}`);
  });
  child.keepRunning();
  return urlOf(login);
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

/** Writes a file that only this user can read. @throws CommandStop if that is not possible */
function writeSecret(file: string, text: string): void {
  try {
    writeWhole(file, text, 0o600);
  } catch (error) {
    throw new CommandStop(
      `DATA_DIR cannot be written: ${reasonOf(error)}. Give this user write permission, or choose another folder.`,
    );
  }
}

function redisConfig(
  folder: string,
  { port, password }: RedisLogin,
  { appendFsync, bytesMax = null }: PrivateRedisOptions,
): string {
  return [
    `bind ${redisHost}`,
    `port ${port}`,
    'protected-mode yes',
    `requirepass ${password}`,
    `dir "${folder.replace(/["\\]/g, '\\$&')}"`,
    'appendonly yes',
    `appendfsync ${appendFsync}`,
    // The append-only file has all data, so snapshots are not needed.
    'save ""',
    // Otherwise Redis would rewrite the file each time its size doubles while a store fills, in a forked process.
    'auto-aof-rewrite-min-size 512mb',
    ...(bytesMax === null ? [] : [`maxmemory ${bytesMax}`]),
    'maxmemory-policy noeviction',
    'daemonize no',
    '',
  ].join('\n');
}

/**
 * Stops a Redis that outlived its `npm start`, because it still writes to the file that the new one loads. The password
 * identifies it.
 */
async function stopOrphan(dataDir: string): Promise<void> {
  const login = readLogin(dataDir);
  if (login === null) return;
  const deadlineMs = performance.now() + orphanTimeoutMs;
  while ((await askRedis(login, 'SHUTDOWN')) !== 'noAnswer') {
    if (performance.now() > deadlineMs) {
      throw new CommandStop(
        `A redis-server of an earlier npm start is still running on port ${login.port} and does not stop. Stop it, then try again.`,
      );
    }
    await sleep(pollMs);
  }
}

async function waitUntilLoaded(
  login: RedisLogin,
  signal: AbortSignal,
  requireAlive: () => void,
): Promise<void> {
  const deadlineMs = performance.now() + readyTimeoutMs;
  while ((await askRedis(login, 'PING')) !== 'ok') {
    requireAlive();
    if (performance.now() > deadlineMs) {
      throw new CommandStop(
        `The private Redis did not load its file within ${readyTimeoutMs / 1000} s. Check whether the disk is slow or the machine is short of memory.`,
      );
    }
    await sleep(pollMs, undefined, { signal });
  }
}

/** Log lines of Redis when it cannot write its file, and when it can write again. */
const diskErrorPattern =
  /Error writing to the AOF file|Short write while writing to the AOF file|No space left on device/;
const diskIsFine = /AOF write error looks solved/;

/** Keeps the last log lines of Redis. Reports once when it cannot write its file, and once when it can again. */
export function followRedis(lines: Readable, kept: string[], say: (text: string) => void): void {
  let isFailing = false;
  createInterface({ input: lines }).on('line', (line) => {
    if (line.trim() === '') return;
    kept.push(line.trim());
    if (kept.length > keptLines) kept.shift();
    if (!isFailing && diskErrorPattern.test(line)) {
      isFailing = true;
      say(`Redis cannot write its file. Its last log lines:\n${kept.join('\n')}`);
    } else if (isFailing && diskIsFine.test(line)) {
      isFailing = false;
      say('Redis can write its file again');
    }
  });
}

const answerTimeoutMs = 2_000;

/**
 * `ok`: done; `refused`: Redis responded with an error, or not in time (it may be loading); `noAnswer`: it is not running, or
 * not ours.
 */
type RedisAnswer = 'ok' | 'refused' | 'noAnswer';

/**
 * Sends one command to a private Redis, to check whether it is running or to stop it. The store's client cannot be used,
 * because it waits and reconnects.
 */
function askRedis({ port, password }: RedisLogin, word: 'PING' | 'SHUTDOWN'): Promise<RedisAnswer> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: redisHost, port });
    const end = (answer: RedisAnswer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(answerTimeoutMs, () => end('refused'));
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => {
      text += piece;
      const [login, answer] = text.split('\r\n');
      if (text.includes('\r\n') && login !== '+OK') return end('noAnswer');
      if (answer?.startsWith('+PONG')) end('ok');
      else if (answer?.startsWith('-') && text.endsWith('\r\n')) end('refused');
    });
    socket.once('error', () => end('noAnswer'));
    // Redis responds to `SHUTDOWN` only by closing the connection.
    socket.once('close', () => end(word === 'SHUTDOWN' ? 'ok' : 'noAnswer'));
    socket.write(`AUTH ${password}\r\n${word}\r\n`);
  });
}
