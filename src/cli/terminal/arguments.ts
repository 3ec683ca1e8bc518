import { type ParseArgsConfig, parseArgs } from 'node:util';
import { commands } from '../commands.mjs';
import { seeHelp, wordsMistake } from '../help.mjs';
import { CommandStop } from './command-stop.ts';

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
