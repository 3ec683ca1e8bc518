import { existsSync } from 'node:fs';
import path from 'node:path';
import { CommandStop } from '../terminal/command-stop.ts';

/** One line of a Procfile: `web: node --import ./src/typescript/loader.mjs workers/web.ts`. */
export interface ProcfileEntry {
  readonly name: string;
  readonly program: string;
  readonly words: readonly string[];
}

const entryPattern = /^([A-Za-z0-9_-]+):\s*(.+)$/;
const wordPattern = /"([^"]*)"|'([^']*)'|(\S+)/g;

/**
 * The entries of a Procfile, in its order. Words that name a file of the Procfile's folder become its whole path, since the
 * working directory is that of the process that starts them. Commands are split into words, with respect to quotes. They run without a
 * shell, so signals and exit codes need not pass through one.
 * @throws CommandStop naming the line that is not `name: command`
 */
export function parseProcfile(text: string, folder: string): ProcfileEntry[] {
  return text.split('\n').flatMap((line, index) => {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) return [];
    const [, name, command] = entryPattern.exec(content) ?? [];
    const [program, ...words] = [...(command ?? '').matchAll(wordPattern)].map(
      (match) => match[1] ?? match[2] ?? match[3] ?? '',
    );
    if (name === undefined || program === undefined) {
      throw new CommandStop(`Procfile, line ${index + 1} must be 'name: command', not '${content}'.`);
    }
    return [{ name, program, words: words.map((word) => wholePath(word, folder)) }];
  });
}

function wholePath(word: string, folder: string): string {
  const file = path.join(folder, word);
  return word.includes('/') && existsSync(file) ? file : word;
}
