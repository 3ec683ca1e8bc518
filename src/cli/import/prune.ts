/** `--prune`: deletes entities of the source, or of some of its types, that are not in the file. */
import { addAbortSignal } from 'node:stream';
import { isJsonObject, type Json, jsonOf, textIn } from '../../contract/json.ts';
import { bulkEntitiesMax, managementPageMax } from '../../contract/limits.ts';
import { fileStamp } from '../../lib/file-stamp.ts';
import { portions } from '../../lib/lists.ts';
import { counted } from '../../lib/message-text.ts';
import { CommandStop, requireConsent } from '../terminal/command-line.ts';
import { type BulkAnswer, BulkClient, PlatformUnavailableError } from './bulk-client.ts';
import {
  type ImportFileOptions,
  type ImportSummary,
  importFile,
  type PruneOptions,
  readerFor,
  stopReason,
} from './import-file.ts';
import { openInput } from './import-lines.ts';
import { retryTotalMsDefault } from './importer.ts';
import { collectingIds, isFailure } from './records.ts';

/** Number of entities that the message lists. */
const shownMax = 10;

/**
 * Imports a file, then deletes entities that are not in it. If a line fails, the import ends early, or the file is empty or
 * changes meanwhile, nothing is deleted.
 * Without `--yes` it counts them and asks for confirmation before the import, and deletes only those.
 * @throws CommandStop if it was not confirmed, or a request fails; the reason of the signal
 */
export async function importAndPrune(
  options: ImportFileOptions,
  pruning: PruneOptions,
  signal: AbortSignal,
): Promise<ImportSummary> {
  const { file, sourceKey, baseUrl, trust = {} } = options;
  const client = new BulkClient({
    baseUrl,
    trust,
    sourceKey,
    signal,
    connections: 1,
    retryTotalMs: retryTotalMsDefault,
    onSilence: (line) => console.error(line),
  });
  try {
    const before = await fileStamp(file);
    const confirmed = pruning.isSure ? null : await confirmedIds(client, options, pruning, signal);
    const seenIds = new Set<string>();
    const summary = await importFile({ ...options, seenIds }, signal);
    if (summary.failed > 0 || summary.stoppedBy !== null) {
      console.error('Nothing was deleted, because the import has failures.');
      return summary;
    }
    if (seenIds.size === 0) throw emptyFile(file);
    if ((await fileStamp(file)) !== before) {
      throw new CommandStop(
        `${file} changed during the import, so nothing was deleted. Run this again when it is complete.`,
      );
    }
    const originIds = confirmed ?? (await idsToPrune(client, seenIds, pruning.types, summary.version));
    if (confirmed === null && originIds.length > 0) console.log(planText(file, originIds, pruning));
    console.error(`${counted(await prune(client, originIds), 'entity', 'entities')} deleted`);
    return summary;
  } catch (error) {
    throw error instanceof PlatformUnavailableError ? new CommandStop(error.message) : error;
  } finally {
    client.close();
  }
}

/** An export that failed leaves an empty file, and pruning by it would delete the whole source. */
function emptyFile(file: string): CommandStop {
  return new CommandStop(
    `${file === '-' ? 'Standard input' : file} contains no entities, so nothing was deleted. ` +
      'To delete all entities of a source, use DELETE /ingest/v2.',
  );
}

/** The entities to delete, after confirmation. @throws CommandStop without confirmation */
async function confirmedIds(
  client: BulkClient,
  options: ImportFileOptions,
  pruning: PruneOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const kept = await readIds(options, signal);
  if (kept.size === 0) throw emptyFile(options.file);
  const originIds = await idsToPrune(client, kept, pruning.types, null);
  if (originIds.length === 0) return [];
  console.log(planText(options.file, originIds, pruning));
  await requireConsent(false, 'Import the file and delete them?');
  return originIds;
}

/** OriginIds of all entities in the file. @throws CommandStop if it cannot be read or has an invalid entity */
async function readIds(options: ImportFileOptions, signal: AbortSignal): Promise<Set<string>> {
  const { stream } = await openInput(options.file);
  const originIds = new Set<string>();
  try {
    for await (const records of collectingIds(
      readerFor(options),
      originIds,
    )(addAbortSignal(signal, stream))) {
      const failure = records.find(isFailure);
      if (failure === undefined) continue;
      throw new CommandStop(`Nothing was changed: line ${failure.line}: ${failure.errors.join('; ')}`);
    }
  } catch (error) {
    throw signal.aborted ? error : new CommandStop(stopReason(error, options.file, signal));
  }
  return originIds;
}

/**
 * OriginIds that the source has, but not the file.
 * @param version minimum version of the list; null for any
 * @throws CommandStop, PlatformUnavailableError
 */
async function idsToPrune(
  client: BulkClient,
  kept: ReadonlySet<string>,
  types: readonly string[],
  version: string | null,
): Promise<string[]> {
  const found: string[] = [];
  for (const type of types.length === 0 ? [null] : new Set(types)) {
    for await (const originId of originIdsOf(client, type, version)) {
      if (!kept.has(originId)) found.push(originId);
    }
  }
  return found;
}

async function* originIdsOf(
  client: BulkClient,
  type: string | null,
  version: string | null,
): AsyncGenerator<string> {
  for (let after: string | null | undefined; after !== null; ) {
    const query = new URLSearchParams({
      first: String(managementPageMax),
      ...(type !== null && { type }),
      ...(after !== undefined && { after }),
    });
    const body = readAnswer(await client.list(`?${query}`, version), 'list entities');
    yield* textsIn(body.originIds);
    after = typeof body.next === 'string' ? body.next : null;
  }
}

function planText(file: string, originIds: readonly string[], { types }: PruneOptions): string {
  const of = types.length === 0 ? '' : ` of the types ${types.join(', ')}`;
  const shown = originIds.slice(0, shownMax).join(', ');
  const more = originIds.length > shownMax ? `, and ${counted(originIds.length - shownMax, 'other')}` : '';
  const has = `The source has ${counted(originIds.length, 'entity', 'entities')}${of} that ${file} does not have`;
  return `${has}: ${shown}${more}`;
}

/**
 * Deletes the entities.
 * @returns the number of deleted ones
 * @throws CommandStop, PlatformUnavailableError
 */
async function prune(client: BulkClient, originIds: readonly string[]): Promise<number> {
  let count = 0;
  for (const portion of portions(originIds, bulkEntitiesMax)) {
    const body = readAnswer(await client.remove(portion), 'delete entities');
    count += textsIn(body.deletedSourceEntities).length;
  }
  return count;
}

/** @throws CommandStop if the request failed */
function readAnswer({ status, body }: BulkAnswer, task: string): Readonly<Record<string, Json | undefined>> {
  const json = jsonOf(body);
  if (status === 200 && isJsonObject(json)) return json;
  const message = isJsonObject(json) ? textIn(json, 'message') : null;
  const reason = message ?? `The platform responded with ${status}`;
  throw new CommandStop(`Cannot ${task}: ${reason}`);
}

function textsIn(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}
