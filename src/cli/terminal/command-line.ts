/**
 * A command and the person who typed it: it reads the words of its command line, asks for consent, and ends with an exit code,
 * and with one line where it cannot continue.
 */
import { createInterface } from 'node:readline/promises';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { SettingsError } from '../../config/settings/settings.ts';
import { asTyped } from '../../lib/typed-command.mjs';
import { commands } from '../commands.mjs';
import { seeHelp, wordsMistake } from '../help.mjs';

/** Ends a command with a one-line message for the user, without a stack trace. */
export class CommandStop extends Error {
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

/**
 * Runs a command. Its result is the exit code. A `CommandStop` is one line on standard error and has an exit code; a wrong
 * setting is one line with exit code 1.
 */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    if (!(error instanceof CommandStop || error instanceof SettingsError)) throw error;
    console.error(asTyped(error.message));
    process.exitCode = error instanceof CommandStop ? error.exitCode : 1;
  }
}

export type CommandName = keyof typeof commands;
type Parsed<Name extends CommandName> = ReturnType<
  typeof parseArgs<{ options: (typeof commands)[Name]['options']; allowPositionals: true }>
>;

/**
 * Parses the words of this command line by the table of commands. `--help` has been answered before.
 * @throws CommandStop with one line for a word that the command does not know
 */
export function readArguments<Name extends CommandName>(
  name: Name,
  words: readonly string[] = process.argv.slice(2),
): Parsed<Name> {
  const mistake = wordsMistake(name, words);
  if (mistake !== null) throw new CommandStop(mistake);
  const config: ParseArgsConfig = {
    args: [...words],
    options: commands[name].options,
    allowPositionals: true,
  };
  // The library cannot follow the literal types of the table through a name that is not known yet.
  return parseArgs(config) as Parsed<Name>;
}

/** The one FILE of a command. @throws CommandStop when it is missing */
export function requiredFile(name: CommandName, [file]: readonly string[]): string {
  if (file !== undefined) return file;
  throw new CommandStop(`Missing FILE. Example: ${commands[name].example}. ${seeHelp(name)}`);
}

/**
 * Goes on only with consent: `--yes` was given, or a person on a terminal says yes.
 * @throws CommandStop otherwise
 */
export async function requireConsent(isSure: boolean, question: string): Promise<void> {
  if (isSure) return;
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CommandStop('Nothing was changed. To confirm, run this again with --yes.');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-D ends the terminal without an answer.
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), ended]);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandStop('Nothing was changed.');
}
