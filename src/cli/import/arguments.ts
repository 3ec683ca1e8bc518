import { seeHelp } from '../help.mjs';
import { readArguments, requiredFile } from '../terminal/arguments.ts';
import { CommandStop } from '../terminal/command-stop.ts';

export interface ImportArguments {
  /** Path, or `-`. */
  readonly file: string;
  readonly sourceKey: string;
  readonly baseUrl: string;
  readonly concurrency: number;
}

const concurrencyMax = 64;

/**
 * The arguments of `npm run import`.
 * @throws CommandStop with one line that says what is wrong
 */
export function readImportArguments(words: readonly string[], defaultUrl: string): ImportArguments {
  const { values, positionals } = readArguments('import', words);
  const file = requiredFile('import', positionals);
  if (!values.key) throw new CommandStop(`The --key of the source is missing. ${seeHelp('import')}`);
  return {
    file,
    sourceKey: values.key,
    baseUrl: readUrl(values.url ?? defaultUrl),
    concurrency: readConcurrency(values.concurrency),
  };
}

function readUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new CommandStop(`--url must be an address such as http://127.0.0.1:4000, not '${text}'.`);
  }
  // Sent to another endpoint, each entity would be called wrong.
  const [address, endpoint] = text.split(/(\/ingest(?:\/.*)?)$/);
  if (endpoint === undefined) return text;
  throw new CommandStop(`--url wants the address alone, without '${endpoint}': ${address}`);
}

function readConcurrency(text: string): number {
  const concurrency = Number(text);
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= concurrencyMax) return concurrency;
  throw new CommandStop(`--concurrency must be a whole number from 1 to ${concurrencyMax}, not '${text}'.`);
}
