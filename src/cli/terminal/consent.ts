import { createInterface } from 'node:readline/promises';
import { CommandStop } from './command-stop.ts';

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
