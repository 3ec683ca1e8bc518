import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly stdin?: Readable;
  /** Presses Ctrl-C once this is on standard error. */
  readonly interruptAt?: RegExp;
}

/** Runs a program to its end. */
export async function run(
  program: string,
  words: string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const child = spawn(program, words, {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...options.env },
    stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  if (child.stdin !== null) {
    // A command that stops early does not read all its input.
    child.stdin.on('error', () => {});
    options.stdin?.pipe(child.stdin);
  }
  if (options.interruptAt !== undefined) pressCtrlC(child, options.interruptAt);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

/** Ctrl-C on a terminal: the terminal signals the process, and npm signals it again. */
function pressCtrlC(child: ChildProcess, at: RegExp): void {
  let said = '';
  const hear = (chunk: Buffer) => {
    said += chunk.toString('utf8');
    if (!at.test(said)) return;
    child.stderr?.off('data', hear);
    child.kill('SIGINT');
    setTimeout(() => child.kill('SIGINT'), 1);
  };
  child.stderr?.on('data', hear);
}

/** Runs one of our commands like its npm script. */
export function runCommand(
  command: string,
  words: string[],
  options?: CommandOptions,
): Promise<CommandResult> {
  return run(process.execPath, ['src/cli/bootstrap.mjs', command, ...words], options);
}

/** A folder that is deleted after the test. */
export async function temporaryFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'millrace-test-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function text(stream: Readable | null): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
