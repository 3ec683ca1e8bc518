import type { Configuration } from '../../config/configuration.ts';
import { groupBy } from '../../lib/lists.ts';
import { counted, grouped } from '../../lib/message-text.ts';
import { declareComplete } from '../../store/configuration/layouts.ts';
import { publishConfiguration, recordEnqueued } from '../../store/configuration/published-configuration.ts';
import { AutoFields } from '../../store/entities/auto-fields.ts';
import { holdForRestore, releaseHold, restoreSnapshots } from '../../store/entities/snapshots.ts';
import type { Store } from '../../store/store.ts';
import { waitForProcesses } from '../platform/job-wait.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { type EntityLine, snapshotOf } from './backup-lines.ts';
import { type CheckedBackup, readBackupEntities } from './read-backup.ts';

export interface RestoreOptions {
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
