import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Configuration } from '../../config/configuration.ts';
import { groupBy } from '../../lib/lists.ts';
import { counted, grouped, reasonOf } from '../../lib/message-text.ts';
import { declareComplete } from '../../store/configuration/layouts.ts';
import { publishConfiguration, recordEnqueued } from '../../store/configuration/published-configuration.ts';
import { AutoFields } from '../../store/entities/auto-fields.ts';
import { holdForRestore, releaseHold, restoreSnapshots } from '../../store/entities/snapshots.ts';
import type { Store } from '../../store/store.ts';
import { type Line, readLines } from '../import/import-lines.ts';
import { waitForProcesses } from '../platform/job-wait.ts';
import { CommandStop } from '../terminal/command-line.ts';
import {
  backupFormat,
  backupVersion,
  type EndLine,
  type EntityLine,
  entityLineStart,
  type FieldsLine,
  parseLine,
  snapshotOf,
} from './backup-lines.ts';

/** Longer than any line of a backup: an entity has at most 5 MiB, and its claims can repeat some of its text for each view. */
const lineBytesMax = 256 * 1024 * 1024;
const lineFeed = Buffer.from('\n');

/** Called with the percentage of the file that is read, 0 to 100, and the number of entities so far. */
export type ReadProgress = (percent: number, entities: number) => void;

/** A complete backup, without its entities, which stay in the file. */
export interface CheckedBackup {
  readonly createdAt: string;
  readonly documents: ReadonlyMap<string, string>;
  readonly fields: readonly FieldsLine[];
  readonly entities: number;
  readonly sha256: string;
}

/**
 * Reads a backup to its end, and checks that it is complete and intact.
 * @throws CommandStop with a one-line message
 */
export async function checkBackup(file: string, onProgress: ReadProgress): Promise<CheckedBackup> {
  const digest = createHash('sha256');
  const documents = new Map<string, string>();
  const fields: FieldsLine[] = [];
  let createdAt: string | null = null;
  let end: EndLine | null = null;
  let entities = 0;
  for await (const line of linesOf(file, (percent) => onProgress(percent, entities))) {
    const { bytes, number } = line;
    if (end !== null) throw damaged(file, `line ${number}: unexpected data after the end marker`);
    if (isEntity(line) && !line.isTooLong) entities += 1;
    else {
      const parsed = parseLine(bytes);
      if (parsed === null || line.isTooLong) throw damaged(file, `line ${number} cannot be read`);
      if (number === 1) createdAt = createdAtOf(file, parsed);
      if (parsed.kind === 'document') documents.set(parsed.path, parsed.text);
      if (parsed.kind === 'fields') fields.push(parsed);
      if (parsed.kind === 'end') end = parsed;
    }
    if (end === null) digest.update(bytes).update(lineFeed);
  }
  if (createdAt === null) throw damaged(file, 'the header is missing');
  if (end === null) throw damaged(file, 'the end is missing');
  if (end.entities !== entities || end.sha256 !== digest.digest('hex')) {
    await findUnreadable(file);
    throw damaged(
      file,
      `it contains ${counted(entities, 'entity', 'entities')}, and the checksum does not match`,
    );
  }
  return { createdAt, documents, fields, entities, sha256: end.sha256 };
}

/** Finds the line to report in a corrupt backup, because entities are not parsed during the check. */
async function findUnreadable(file: string): Promise<void> {
  for await (const { bytes, number } of linesOf(file, () => {})) {
    if (parseLine(bytes) === null) throw damaged(file, `line ${number} cannot be read`);
  }
}

/** An entity line, with its length in bytes. */
export interface BackupEntity {
  readonly line: EntityLine;
  readonly bytes: number;
}

/** The entities of a checked backup, in order. @throws CommandStop if the file has changed */
async function* readBackupEntities(
  file: string,
  onProgress: (percent: number) => void,
): AsyncGenerator<BackupEntity> {
  for await (const line of linesOf(file, onProgress)) {
    if (!isEntity(line)) continue;
    const parsed = parseLine(line.bytes);
    if (parsed?.kind !== 'entity') throw damaged(file, `line ${line.number} can no longer be read`);
    yield { line: parsed, bytes: line.bytes.length };
  }
}

function isEntity({ bytes }: Line): boolean {
  return bytes.subarray(0, entityLineStart.length).equals(entityLineStart);
}

function createdAtOf(file: string, line: { readonly kind: string }): string {
  const { kind, format, version, createdAt } = line as Partial<Record<string, unknown>>;
  if (kind !== 'header' || format !== backupFormat) throw damaged(file, 'the header is missing');
  if (version !== backupVersion) {
    throw new CommandStop(
      `${file} was written by another version of Millrace (format ${version}; this version reads ${backupVersion}). Restore it with that version.`,
    );
  }
  return String(createdAt);
}

async function* linesOf(file: string, onProgress: (percent: number) => void): AsyncGenerator<Line> {
  const totalBytes = bytesOf(file);
  const packed = createReadStream(file, { highWaterMark: 256 * 1024 });
  // An error in one stream destroys the other, and is thrown by the loop below.
  const unpacked = pipeline(packed, createGunzip(), () => {});
  try {
    for await (const line of readLines(unpacked, lineBytesMax)) {
      yield line;
      onProgress(Math.min(99, Math.floor((100 * packed.bytesRead) / totalBytes)));
    }
  } catch (error) {
    if (error instanceof CommandStop || !(error instanceof Error) || !('code' in error)) throw error;
    throw damaged(file, error.message);
  } finally {
    packed.destroy();
  }
}

function bytesOf(file: string): number {
  try {
    return Math.max(1, statSync(file).size);
  } catch (error) {
    throw new CommandStop(`${file} cannot be read: ${reasonOf(error)}.`);
  }
}

function damaged(file: string, reason: string): CommandStop {
  return new CommandStop(`${file} is not a complete backup: ${reason}.`);
}

interface RestoreOptions {
  readonly store: Store;
  readonly file: string;
  readonly backup: CheckedBackup;
  /** Compiled from the documents of the backup. */
  readonly configuration: Configuration;
  readonly signal: AbortSignal;
  readonly onProgress: (percent: number, text: string) => void;
}

const entitiesPerBatch = 1000;
const bytesPerBatch = 16 * 1024 * 1024;

/**
 * Restores a backup into an empty store.
 * @throws CommandStop if the store is not empty; FencedError if another restore is using it; StoreUnavailableError; the reason
 * of the signal, after which the same backup can be restored again
 */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { store, backup } = options;
  const token = backup.sha256;
  await requireHold(store, token);
  await restoreFieldTypes(store, backup);
  await restoreConfiguration(options);
  await restoreEntities(options, token);
  await releaseHold(store, token);
}

async function requireHold(store: Store, token: string): Promise<void> {
  const outcome = await holdForRestore(store, token);
  if (outcome === 'held') return;
  throw new CommandStop(
    outcome === 'notEmpty'
      ? 'This store is not empty. Restore into a store in which nothing was ever saved (another REDIS_URL, or an npm start ' +
          'with a new DATA_DIR and DEMO=off). Nothing was restored.'
      : 'The restore of another backup is running or was interrupted here. Run that restore again to finish it, or use an ' +
          'empty store. Nothing was restored.',
  );
}

/** Must run before entities are restored: otherwise the first value that a worker processes would decide a type. */
async function restoreFieldTypes(store: Store, { fields }: CheckedBackup): Promise<void> {
  const autoFields = new AutoFields(store);
  for (const { tenant, sourceId, type, fields: decided } of fields) {
    await autoFields.decide(tenant, sourceId, type, new Map(decided));
  }
}

/** Must run before entities are restored, because workers ignore entities of unknown sources. */
async function restoreConfiguration({ store, backup, configuration, signal }: RestoreOptions): Promise<void> {
  const generation = await publishConfiguration(store, backup.documents, configuration);
  // Nothing is built yet, so nothing needs a rebuild.
  await declareComplete(store, configuration);
  await recordEnqueued(store, generation);
  await waitForProcesses(store, generation, signal);
}

async function restoreEntities(
  { store, file, backup, signal, onProgress }: RestoreOptions,
  token: string,
): Promise<void> {
  let done = 0;
  let percent = 0;
  let batch: EntityLine[] = [];
  let batchBytes = 0;
  const put = async () => {
    signal.throwIfAborted();
    const groups = groupBy(batch, ({ tenant, sourceId }) => `${tenant}:${sourceId}`);
    for (const group of groups.values()) {
      const [first] = group;
      if (first === undefined) continue;
      await restoreSnapshots(store, token, first.tenant, first.sourceId, group.map(snapshotOf));
    }
    done += batch.length;
    batch = [];
    batchBytes = 0;
    onProgress(percent, `${grouped(done)} of ${counted(backup.entities, 'entity', 'entities')} restored`);
  };
  const entities = readBackupEntities(file, (read) => {
    percent = read;
  });
  for await (const { line, bytes } of entities) {
    batch.push(line);
    batchBytes += bytes;
    if (batch.length >= entitiesPerBatch || batchBytes >= bytesPerBatch) await put();
  }
  await put();
}
