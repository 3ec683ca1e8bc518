/** Starts the process of a contender, waits for it, and ends it with the run. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { requireFreePort } from '../../../src/cli/start/ports.ts';
import { typeScriptWords } from '../../../src/typescript/clone-or-package.mjs';
import type { BenchContext } from '../bench.ts';
import { host as loopbackHost } from '../ports.ts';

export interface ServerCommand {
  readonly program: string;
  readonly words: readonly string[];
  readonly port: number;
  /** Where it listens; absent: the loopback address. */
  readonly host?: string;
  /** Words before the command, which pin it to a core. */
  readonly prefix?: readonly string[];
  /** Some programs refuse to run as root. */
  readonly user?: { readonly uid: number; readonly gid: number } | null;
  readonly readyTimeoutMs?: number;
}

const pollMs = 50;
const stopGraceMs = 5_000;
const serversDir = fileURLToPath(new URL('../../servers/', import.meta.url));

/** Starts a process. Resolves once its port takes connections. @throws Error with its last words when it ends before */
export async function startServer(context: BenchContext, command: ServerCommand): Promise<ChildProcess> {
  const { port, host = loopbackHost, prefix = [], user = null, readyTimeoutMs = 120_000 } = command;
  await requireFreePort(host, port);
  const [program = '', ...words] = [...prefix, command.program, ...command.words];
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'], ...(user ?? {}) });
  let lastWords = '';
  child.stderr.on('data', (piece: Buffer) => {
    lastWords = (lastWords + piece.toString()).slice(-2_000);
  });
  context.onEnd(() => stopServer(child));
  const deadlineMs = performance.now() + readyTimeoutMs;
  while (!(await takesConnections(host, port))) {
    context.signal.throwIfAborted();
    if (child.exitCode !== null || performance.now() > deadlineMs) {
      throw new Error(`${command.program} does not listen on ${port}: ${lastWords}`);
    }
    await sleep(pollMs);
  }
  return child;
}

/** Starts `bench/servers/NAME.ts PORT WORDS…`. */
export function startNodeServer(
  context: BenchContext,
  name: string,
  options: Omit<ServerCommand, 'program' | 'user' | 'readyTimeoutMs'>,
): Promise<ChildProcess> {
  const words = [...typeScriptWords, `${serversDir}${name}.ts`, String(options.port), ...options.words];
  return startServer(context, { ...options, program: process.execPath, words });
}

export async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), stopGraceMs);
  await ended;
  clearTimeout(kill);
}

function takesConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
