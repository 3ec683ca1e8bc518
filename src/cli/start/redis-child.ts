/** Runs a `redis-server` as a child process that ends with its parent. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../../lib/message-text.ts';
import { writeWhole } from '../../lib/whole-file.ts';
import { type RedisLogin, redisHost, urlOf } from '../platform/private-redis-login.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { freePort } from './ports.ts';
import type { Supervisor } from './supervisor.ts';

/** Timeout for loading the file: Redis loads about 10 GB of an append-only file per minute. */
const readyTimeoutMs = 300_000;
export const redisPollMs = 50;
const keptLines = 5;

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

export interface RedisChild {
  /** Its name in the log. */
  readonly name: string;
  readonly login: RedisLogin;
  readonly configFile: string;
  /** Additional lines of its configuration. */
  readonly config: readonly string[];
  readonly supervisor: Supervisor;
  readonly signal: AbortSignal;
}

/** A free loopback port and a new password. */
export async function newLogin(): Promise<RedisLogin> {
  return { port: await freePort(redisHost), password: randomBytes(24).toString('hex') };
}

/**
 * Starts Redis, waits until it responds, and keeps it running.
 * @returns its URL
 * @throws CommandStop if it does not start
 */
export async function startRedisChild({
  name,
  login,
  configFile,
  config,
  supervisor,
  signal,
}: RedisChild): Promise<string> {
  writeSecret(configFile, configText(login, config));
  const lastLines: string[] = [];
  // The other processes need it while they stop, so it has the role that is stopped last.
  const child = supervisor.add('redis', {
    command: { name, program: 'sh', words: ['-c', wrapper, configFile], env: process.env },
    endBy: 'endOfInput',
    follow: (lines) => followRedis(lines, lastLines, (text) => supervisor.say(text)),
    lastLines,
  });
  await waitUntilLoaded(login, signal, () => {
    if (child.pid === undefined) throw failed(lastLines);
  });
  child.keepRunning();
  return urlOf(login);
}

/** Writes a file that only this user can read. @throws CommandStop if that is not possible */
export function writeSecret(file: string, text: string): void {
  try {
    writeWhole(file, text, 0o600);
  } catch (error) {
    throw new CommandStop(
      `DATA_DIR cannot be written: ${reasonOf(error)}. Give this user write permission, or choose another folder.`,
    );
  }
}

function configText({ port, password }: RedisLogin, config: readonly string[]): string {
  const common = [`bind ${redisHost}`, `port ${port}`, 'protected-mode yes', `requirepass ${password}`];
  return [...common, ...config, 'maxmemory-policy noeviction', 'daemonize no', ''].join('\n');
}

async function waitUntilLoaded(
  login: RedisLogin,
  signal: AbortSignal,
  requireAlive: () => void,
): Promise<void> {
  const deadlineMs = performance.now() + readyTimeoutMs;
  while ((await askRedis(redisHost, login, 'PING')) !== 'ok') {
    requireAlive();
    if (performance.now() > deadlineMs) {
      throw new CommandStop(
        `The private Redis did not load its file within ${readyTimeoutMs / 1000} s. Check whether the disk is slow or the machine is short of memory.`,
      );
    }
    await sleep(redisPollMs, undefined, { signal });
  }
}

function failed(lastLines: readonly string[]): CommandStop {
  return new CommandStop(`The private redis-server did not start: ${lastLines.join(' / ')}`);
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
export type RedisAnswer = 'ok' | 'refused' | 'noAnswer';

/**
 * Sends one command to a private Redis, to check whether it is running or to stop it. The store's client cannot be used,
 * because it waits and reconnects.
 */
export function askRedis(
  host: string,
  { port, password }: { readonly port: number; readonly password: string },
  word: 'PING' | 'SHUTDOWN',
): Promise<RedisAnswer> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host, port });
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
