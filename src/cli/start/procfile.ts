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
 * The entries of a Procfile, in its order. Commands are split into words, with respect to quotes. They run without a
 * shell, so signals and exit codes need not pass through one.
 * @throws CommandStop naming the line that is not `name: command`
 */
export function parseProcfile(text: string): ProcfileEntry[] {
  return text.split('\n').flatMap((line, index) => {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) return [];
    const [, name, command] = entryPattern.exec(content) ?? [];
    const [program, ...words] = [...(command ?? '').matchAll(wordPattern)].map(
      (match) => match[1] ?? match[2] ?? match[3] ?? '',
    );
    if (name === undefined || program === undefined) {
      throw new CommandStop(`Procfile, line ${index + 1}: write it as 'name: command', not '${content}'.`);
    }
    return [{ name, program, words }];
  });
}
