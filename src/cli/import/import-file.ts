import { counted, grouped } from '../../lib/message-text.ts';
import { seeHelp } from '../help.mjs';
import type { Trust } from '../platform/own-front.ts';
import { CommandStop, readArguments, requiredFile } from '../terminal/command-line.ts';
import { PlatformUnavailableError } from './bulk-client.ts';
import {
  formatOf,
  type ImportFormat,
  importFormats,
  type MappedName,
  mappedNames,
  type RowOptions,
  readerOf,
} from './formats.ts';
import { openInput } from './import-lines.ts';
import { doneEntities, ImportClock, showProgress } from './import-progress.ts';
import { FailureFile, type ImportCounts, Importer, retryTotalMsDefault } from './importer.ts';
import { collectingIds, type RecordReader } from './records.ts';

export interface ImportSummary extends ImportCounts {
  /** Why the import ended before the end of its input; null if it was complete. */
  readonly stoppedBy: string | null;
  /** Version token of the last write. */
  readonly version: string | null;
}

export interface ImportFileOptions extends ImportArguments {
  readonly trust?: Trust;
  /** Receives the originIds in the file. */
  readonly seenIds?: Set<string>;
}

/**
 * Imports a file. Progress and summary go to standard error, and failed lines to `FILE.failed.ndjson`
 * (`stdin.failed.ndjson` for standard input).
 * @throws CommandStop if the file cannot be read
 */
export async function importFile(options: ImportFileOptions, signal: AbortSignal): Promise<ImportSummary> {
  const { file, sourceKey, baseUrl, concurrency, trust = {}, seenIds } = options;
  const reader = readerFor(options);
  const input = await openInput(file);
  const failures = new FailureFile(`${file === '-' ? 'stdin' : file}.failed.ndjson`);
  const clock = new ImportClock(input);
  const progress = showProgress(input);
  const importer = new Importer(
    {
      baseUrl,
      trust,
      sourceKey,
      concurrency,
      signal,
      retryTotalMs: retryTotalMsDefault,
      onSilence: (line) => progress.say(line),
    },
    failures,
    (counts) => progress.show(counts),
    seenIds === undefined ? reader : collectingIds(reader, seenIds),
  );
  let stoppedBy: string | null = null;
  try {
    await importer.run(input.stream);
  } catch (error) {
    stoppedBy = stopReason(error, file, signal);
  } finally {
    progress.stop();
    failures.close();
  }
  const summary = { ...importer.done, stoppedBy, version: importer.version };
  printSummary(summary, clock, failures);
  return summary;
}

/** The reader for the format in the arguments, or by the extension of the file. */
export function readerFor({ file, format, rows }: ImportArguments): RecordReader {
  return readerOf(format ?? formatOf(file), rows ?? { map: new Map(), type: null });
}

/** Message for the error that ended an import. @throws unexpected errors */
export function stopReason(error: unknown, file: string, signal: AbortSignal): string {
  if (error instanceof CommandStop || error instanceof PlatformUnavailableError) return error.message;
  if (signal.aborted)
    return 'Stopped. Run the same command again to continue; unchanged entities cause no work.';
  if (!(error instanceof Error && 'code' in error)) throw error;
  if (String(error.code).startsWith('Z_'))
    return `${file} is a truncated or corrupt gzip file: ${error.message}.`;
  return `The input cannot be read: ${error.message}`;
}

function printSummary(summary: ImportSummary, clock: ImportClock, { file, first }: FailureFile): void {
  const { changed, unchanged, failed, stoppedBy } = summary;
  const seconds = clock.seconds().toFixed(1);
  console.error(
    `${counted(doneEntities(summary), 'entity', 'entities')} in ${seconds} s (${clock.rate(summary)}): ` +
      `${grouped(changed)} changed, ${grouped(unchanged)} unchanged, ${grouped(failed)} failed`,
  );
  if (first !== null) {
    console.error(`The failed lines and their errors are in ${file}`);
    const isRepeated = stoppedBy !== null && first.errors.includes(stoppedBy);
    if (!isRepeated) console.error(`The first is line ${first.line}: ${first.errors.join('; ')}`);
  }
  if (stoppedBy !== null) console.error(stoppedBy);
}

interface ImportArguments {
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
