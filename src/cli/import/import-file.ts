import { counted, grouped } from '../../lib/message-text.ts';
import type { Trust } from '../platform/own-front.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { PlatformUnavailableError } from './bulk-client.ts';
import { formatOf, readerOf } from './formats.ts';
import type { ImportArguments } from './import-arguments.ts';
import { openInput } from './import-input.ts';
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
