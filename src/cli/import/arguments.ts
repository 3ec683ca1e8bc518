import { parseArgs } from 'node:util';
import { CommandStop } from '../command-stop.ts';

export const importHelp = `Streams source entities into a source, 50 a request.

  npm run import -- FILE --key SOURCE_KEY [--url BASE] [--concurrency N]

  FILE           one entity a line: .ndjson, .ndjson.gz, or - for standard input
  --key          the API key of the source
  --url          address of the platform (default: where npm start listens with the same settings)
  --concurrency  requests at once, 1 to 64 (default 8)

Entities that do not change are left alone, so an import that was broken off can simply be run again.
Lines that fail are written to FILE.failed.ndjson with their errors; the exit code is 1 then.
`;

export interface ImportArguments {
  /** Path, or `-`. */
  readonly file: string;
  readonly sourceKey: string;
  readonly baseUrl: string;
  readonly concurrency: number;
}

const concurrencyDefault = 8;
const concurrencyMax = 64;

/**
 * The arguments of `npm run import`, or null when help is asked for.
 * @throws CommandStop with one line that says what is wrong
 */
export function readImportArguments(words: readonly string[], defaultUrl: string): ImportArguments | null {
  const { values, positionals } = parse(words);
  if (values.help) return null;
  const [file, ...more] = positionals;
  if (file === undefined) throw new CommandStop('Which FILE? See: npm run import -- --help');
  if (more.length > 0) throw new CommandStop(`One FILE at a time, and '${more[0]}' is a second one.`);
  if (!values.key) throw new CommandStop('The --key of the source is missing. See: npm run import -- --help');
  return {
    file,
    sourceKey: values.key,
    baseUrl: readUrl(values.url ?? defaultUrl),
    concurrency: readConcurrency(values.concurrency),
  };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        key: { type: 'string' },
        url: { type: 'string' },
        concurrency: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new CommandStop(`${error instanceof Error ? error.message : error} See: npm run import -- --help`);
  }
}

function readUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new CommandStop(`--url must be an address such as http://127.0.0.1:4000, not '${text}'.`);
}

function readConcurrency(text: string | undefined): number {
  if (text === undefined) return concurrencyDefault;
  const concurrency = Number(text);
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= concurrencyMax) return concurrency;
  throw new CommandStop(`--concurrency must be a whole number from 1 to ${concurrencyMax}, not '${text}'.`);
}
