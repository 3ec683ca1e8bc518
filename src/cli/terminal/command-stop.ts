import { SettingsError } from '../../config/settings/settings.ts';
import { asTyped } from '../../lib/typed-command.mjs';

/** Ends a command with one line for the person who typed it. A stack would tell them nothing. */
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
