/** The load generator: `wrk` replaying prepared requests over kept-alive connections. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandStop } from '../../../src/cli/terminal/command-line.ts';
import type { BenchContext } from '../bench.ts';
import { findTool } from '../tools.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface LoadOptions {
  readonly port: number;
  /** From `prepareRequests`. */
  readonly requestFile: string;
  readonly connections: number;
  readonly seconds: number;
  /** Number of requests at the beginning of the file that are left out; absent: none. */
  readonly skipped?: number;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Number of connections, reads, writes and statuses that failed. */
  readonly failed: number;
}

/** A load that may fail. */
export interface TriedLoad extends LoadResult {
  readonly slowestMs: number;
}

const script = fileURLToPath(new URL('replay.lua', import.meta.url));
const host = '127.0.0.1';

/** Path of `wrk`. @throws CommandStop without it, because nothing can be measured then */
export function requireWrk(context: BenchContext): string {
  const wrk = findTool('wrk', 'wrk', context.say);
  if (wrk === null) throw new CommandStop('This benchmark measures with wrk, which is not here.');
  return wrk;
}

/** Writes requests into a file for the load generator. @returns the file */
export function prepareRequests(
  context: BenchContext,
  name: string,
  requests: readonly HttpRequest[],
): string {
  const file = path.join(context.folder, 'requests', name);
  mkdirSync(path.dirname(file), { recursive: true });
  const pieces = requests.flatMap((request) => {
    const raw = Buffer.from(rawRequest(request));
    return [Buffer.from(`${raw.length}\n`), raw];
  });
  writeFileSync(file, Buffer.concat(pieces));
  return file;
}

function rawRequest({ method, path: target, headers = {}, body }: HttpRequest): string {
  const all: Record<string, string> = { Host: host, ...headers };
  if (body !== undefined) {
    all['Content-Type'] = 'application/json';
    all['Content-Length'] = String(Buffer.byteLength(body));
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

/** Runs a load. @throws Error when a request failed, because rates of errors say nothing */
export async function load(wrk: string, options: LoadOptions): Promise<LoadResult> {
  const result = await tryLoad(wrk, options);
  if (result.failed > 0) throw new Error(`${result.failed} requests failed on port ${options.port}`);
  return result;
}

/** Runs a load and counts what failed. */
export async function tryLoad(wrk: string, options: LoadOptions): Promise<TriedLoad> {
  const { port, requestFile, connections, seconds, skipped = 0 } = options;
  const words = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script];
  const output = await outputOf(wrk, [
    ...words,
    `http://${host}:${port}`,
    '--',
    requestFile,
    String(skipped),
  ]);
  const line = output.split('\n').find((one) => one.startsWith('RESULT '));
  if (line === undefined) throw new Error(`wrk said: ${output}`);
  const result: Record<'requests' | 'durationUs' | 'p50Us' | 'p99Us' | 'maxUs' | 'failed', number> =
    JSON.parse(line.slice('RESULT '.length));
  return {
    requestsPerSecond: result.requests / (result.durationUs / 1e6),
    p50Ms: result.p50Us / 1000,
    p99Ms: result.p99Us / 1000,
    slowestMs: result.maxUs / 1000,
    failed: result.failed,
  };
}

function outputOf(program: string, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
    child.stderr.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
    child.once('error', reject);
    child.once('close', () => resolve(text));
  });
}
