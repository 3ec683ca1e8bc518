import { seeHelp } from '../help.mjs';
import { CommandStop, readArguments, requiredFile } from '../terminal/command-line.ts';
import {
  formatOf,
  type ImportFormat,
  importFormats,
  type MappedName,
  mappedNames,
  type RowOptions,
} from './formats.ts';

export interface ImportArguments {
  /** Path, or `-`. */
  readonly file: string;
  readonly sourceKey: string;
  readonly baseUrl: string;
  readonly concurrency: number;
  /** By default from the extension of the file. */
  readonly format?: ImportFormat;
  /** Options for CSV. */
  readonly rows?: RowOptions;
  /** Absent to delete nothing. */
  readonly prune?: PruneOptions;
}

const concurrencyMax = 64;

/**
 * The arguments of `npm run import`.
 * @throws CommandStop with a one-line message
 */
export function readImportArguments(words: readonly string[], defaultUrl: string): ImportArguments {
  const { values, positionals } = readArguments('import', words);
  const file = requiredFile('import', positionals);
  if (!values.key) throw new CommandStop(`The --key of the source is missing. ${seeHelp('import')}`);
  if (!/^[\x20-\x7e]+$/.test(values.key)) {
    throw new CommandStop('--key contains characters that no API key has. Check that it is complete.');
  }
  const format = readFormat(values.format ?? formatOf(file));
  const types = values.type ?? [];
  const isForPrune = { map: false, type: values.prune === true };
  for (const option of ['map', 'type'] as const) {
    if (values[option] === undefined || format === 'csv' || isForPrune[option]) continue;
    throw new CommandStop(`--${option} is for CSV, and the file is read as ${format}. Add --format csv.`);
  }
  if (format === 'csv' && types.length > 1) throw new CommandStop('With CSV, --type can be given only once.');
  if (values.prune && file === '-' && !values.yes) {
    throw new CommandStop('--prune reads the file twice to count first. With standard input, add --yes.');
  }
  return {
    file,
    format,
    rows: { map: readMap(values.map ?? ''), type: types[0] ?? null },
    ...(values.prune && { prune: { types, isSure: values.yes === true } }),
    sourceKey: values.key,
    baseUrl: readUrl(values.url ?? defaultUrl),
    concurrency: readConcurrency(values.concurrency),
  };
}

function readUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new CommandStop(`--url must be an address such as http://127.0.0.1:4000, not '${text}'.`);
  }
  // Otherwise every entity would be sent to a wrong endpoint and be rejected.
  const [address, endpoint] = text.split(/(\/ingest(?:\/.*)?)$/);
  if (endpoint === undefined) return text;
  throw new CommandStop(`--url must be only the address, without '${endpoint}': ${address}`);
}

function readConcurrency(text: string): number {
  const concurrency = Number(text);
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= concurrencyMax) return concurrency;
  throw new CommandStop(`--concurrency must be a whole number from 1 to ${concurrencyMax}, not '${text}'.`);
}

function readFormat(text: string): ImportFormat {
  const format = importFormats.find((known) => known === text);
  if (format !== undefined) return format;
  throw new CommandStop(`--format must be one of ${importFormats.join(', ')}, not '${text}'.`);
}

/** Reads `originId=id,url=slug`. */
function readMap(text: string): Map<MappedName, string> {
  const map = new Map<MappedName, string>();
  for (const pair of text === '' ? [] : text.split(',')) {
    const [, left = '', column = ''] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
    const name = mappedNames.find((known) => known === left.trim());
    if (name === undefined || column.trim() === '' || map.has(name)) {
      throw new CommandStop(
        `--map must be pairs such as originId=id,url=slug, each of ${mappedNames.join(', ')} at most once, not '${pair}'.`,
      );
    }
    map.set(name, column.trim());
  }
  return map;
}

export interface PruneOptions {
  /** Types of entities that may be deleted; empty for all. */
  readonly types: readonly string[];
  /** True if `--yes` was given. */
  readonly isSure: boolean;
}
