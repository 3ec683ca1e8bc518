/** Shared by all commands: reads arguments, asks for confirmation, and ends with an exit code and a one-line error message. */
import { createInterface } from 'node:readline/promises';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { SettingsError } from '../../config/settings/settings.ts';
import { asTyped } from '../../lib/typed-command.mjs';
import { commands } from '../commands.mjs';
import { argumentsError, seeHelp } from '../help.mjs';

/** Ends a command with a one-line message for the user, without a stack trace. */
export class CommandStop extends Error {
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

/** Exit code of an interrupted command, as in shells. */
export const interruptedCode = 130;

/**
 * Runs a command, whose result is the exit code. A `CommandStop` prints one line to standard error and has its own exit code;
 * an invalid setting, or a file that cannot be used, has exit code 1.
 */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  stopWithoutOutput();
  try {
    process.exitCode = await command();
  } catch (error) {
    const message = messageFor(error);
    if (message === null) throw error;
    console.error(asTyped(message));
    process.exitCode = error instanceof CommandStop ? error.exitCode : 1;
  }
  await Promise.all([process.stdout, process.stderr].map(written));
  // The Redis client keeps the timers of commands that were lost with their connection.
  process.exit();
}

/** Null for an error that only a bug can cause. */
function messageFor(error: unknown): string | null {
  if (error instanceof CommandStop || error instanceof SettingsError) return error.message;
  const isOfFile = error instanceof Error && 'code' in error && fileErrors.has(error.code);
  return isOfFile ? `A file cannot be read or written: ${error.message}` : null;
}

/** Codes of Node.js for files and folders that cannot be used, and full disks. */
const fileErrors: ReadonlySet<unknown> = new Set([
  ...['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'ELOOP'],
  ...['ENAMETOOLONG', 'ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EMFILE', 'ENFILE', 'EBUSY', 'ETXTBSY'],
  'ERR_FS_EISDIR',
]);

/** Waits until everything is written, or cannot be. */
async function written(stream: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((resolve) => {
    stream.write('', () => resolve());
  });
}

/** Exit code of a program whose reader is gone, as in shells. */
const closedOutputCode = 141;

/** Stops the command if its output cannot be written. `| head -1` is not an error, so it prints nothing about that. */
function stopWithoutOutput(): void {
  let isStopping = false;
  const stop = (error: NodeJS.ErrnoException) => {
    if (isStopping) return;
    isStopping = true;
    const isClosed = error.code === 'EPIPE';
    if (!isClosed) console.error(`The output cannot be written: ${error.message}`);
    // What cleans up after Ctrl-C does so here too.
    if (process.listenerCount('SIGTERM') > 0) process.kill(process.pid, 'SIGTERM');
    else process.exit(isClosed ? closedOutputCode : 1);
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', stop);
}

export type CommandName = keyof typeof commands;
type Parsed<Name extends CommandName> = ReturnType<
  typeof parseArgs<{ options: (typeof commands)[Name]['options']; allowPositionals: true }>
>;

/**
 * Parses the arguments by the table of commands. `--help` is handled before.
 * @throws CommandStop with a one-line message for an unknown argument
 */
export function readArguments<Name extends CommandName>(
  name: Name,
  words: readonly string[] = process.argv.slice(2),
): Parsed<Name> {
  const message = argumentsError(name, words);
  if (message !== null) throw new CommandStop(message);
  const config: ParseArgsConfig = {
    args: [...words],
    options: commands[name].options,
    allowPositionals: true,
  };
  // The types of `parseArgs` cannot be inferred for a generic command name.
  return parseArgs(config) as Parsed<Name>;
}

/** The FILE argument of a command. @throws CommandStop if it is missing */
export function requiredFile(name: CommandName, [file]: readonly string[]): string {
  if (file !== undefined) return file;
  throw new CommandStop(`Missing FILE. Example: ${commands[name].example}. ${seeHelp(name)}`);
}

/**
 * Asks for confirmation on a terminal, unless `--yes` was given.
 * @throws CommandStop without confirmation
 */
export async function requireConsent(isSure: boolean, question: string): Promise<void> {
  if (isSure) return;
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CommandStop('Nothing was changed. To confirm, run this again with --yes.');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  let exitCode = 1;
  terminal.once('SIGINT', () => {
    exitCode = interruptedCode;
    terminal.close();
  });
  // Ctrl-D and Ctrl-C close the terminal without an answer, and without a line break after the question.
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('\n')));
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), ended]);
  terminal.close();
  if (answer === '\n') console.log();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandStop('Nothing was changed.', exitCode);
}

/**
 * npm passes on a Ctrl-C to a process that has already received it from the terminal. A signal this soon after the first one is
 * from the same key press.
 */
const samePressMs = 700;

const names = ['SIGINT', 'SIGTERM'] as const;

/** A request to stop, by SIGINT or SIGTERM. */
interface StopSignals {
  readonly signal: AbortSignal;
  /** Restores the default behaviour of both signals. */
  release(): void;
}

/**
 * Turns SIGINT and SIGTERM into one request to stop. A second signal, from a user who does not want to wait, calls `onSecond`.
 * @param reason of the request
 */
export function stopSignals(onSecond: () => void, reason: Error): StopSignals {
  const stop = new AbortController();
  let firstMs = 0;
  const request = () => {
    if (!stop.signal.aborted) {
      firstMs = performance.now();
      stop.abort(reason);
    } else if (performance.now() - firstMs > samePressMs) {
      onSecond();
    }
  };
  for (const name of names) process.on(name, request);
  return {
    signal: stop.signal,
    release: () => {
      for (const name of names) process.off(name, request);
    },
  };
}

/**
 * Runs work that Ctrl-C interrupts. A second Ctrl-C ends the process immediately.
 * @param line message about what remains, or continues without the command
 * @param act must end soon after its signal is aborted
 * @throws CommandStop with the line if it was interrupted
 */
export async function interruptible<T>(line: string, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = stopSignals(() => process.exit(interruptedCode), new CommandStop(line, interruptedCode));
  try {
    return await act(stop.signal);
  } catch (error) {
    stop.signal.throwIfAborted();
    throw error;
  } finally {
    // After a Ctrl-C the handlers stay: the signal that npm passes on would end the process before it has cleaned up.
    if (!stop.signal.aborted) stop.release();
  }
}
