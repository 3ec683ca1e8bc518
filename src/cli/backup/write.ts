import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Configuration } from '../../config/configuration.ts';
import { withoutSecrets } from '../../config/tenant/kept-secrets.ts';
import { sum } from '../../lib/lists.ts';
import { codeOf, reasonOf } from '../../lib/message-text.ts';
import type { PublishedConfiguration } from '../../store/configuration/published-configuration.ts';
import { scanAutoFieldTypes } from '../../store/entities/auto-fields.ts';
import { countEntities } from '../../store/entities/entities.ts';
import { scanSnapshots } from '../../store/entities/snapshots.ts';
import type { Store } from '../../store/store.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { backupFormat, backupVersion, entityLine, fieldsLine, lineText } from './backup-lines.ts';

export interface BackupOptions {
  readonly store: Store;
  readonly published: PublishedConfiguration;
  readonly configuration: Configuration;
  readonly file: string;
  readonly signal: AbortSignal;
  readonly onProgress: (entities: number, total: number) => void;
}

/** Lines written together, and how many of them are entities. */
interface Lines {
  readonly text: string;
  readonly entities: number;
}

/**
 * Writes a backup under a temporary name, and renames it when it is complete.
 * @returns number of entities
 * @param obstacle called before the rename; returns an error message if the backup must not be kept, otherwise null
 * @throws CommandStop if the file exists or cannot be written; StoreUnavailableError
 */
export async function writeBackup(
  options: BackupOptions,
  obstacle: () => Promise<string | null>,
): Promise<number> {
  const { file, signal } = options;
  requireNoFile(file);
  // A unique name, because two backups may be writing to the same file.
  const part = `${file}.${randomBytes(4).toString('hex')}.part`;
  const counted = { entities: 0 };
  try {
    await pipeline(
      sealed(contents(options), counted),
      createGzip(),
      createWriteStream(part, { mode: 0o600, flush: true }),
      { signal },
    );
    const reason = await obstacle();
    if (reason !== null) throw new CommandStop(reason);
    requireNoFile(file);
    renameSync(part, file);
    return counted.entities;
  } catch (error) {
    rmSync(part, { force: true });
    if (!/^E[A-Z]+$/.test(codeOf(error) ?? '')) throw error;
    throw new CommandStop(`${file} cannot be written: ${reasonOf(error)}`);
  }
}

function requireNoFile(file: string): void {
  if (existsSync(file)) throw new CommandStop(`${file} already exists. Choose another name or move it away.`);
}

/** All lines except the last: configuration, entities by source and partition, field types. */
async function* contents({
  store,
  published,
  configuration,
  onProgress,
}: BackupOptions): AsyncGenerator<Lines> {
  const createdAt = new Date().toISOString();
  const head = lineText({ kind: 'header', format: backupFormat, version: backupVersion, createdAt });
  yield { text: head, entities: 0 };
  for (const [path, text] of withoutSecrets(published.documents)) {
    yield { text: lineText({ kind: 'document', path, text }), entities: 0 };
  }
  const sources = [...configuration.tenants.values()].flatMap(({ alias, sources: ofTenant }) =>
    [...ofTenant.keys()].map((sourceId) => ({ tenant: alias, sourceId })),
  );
  const partitions = store.partitions.tags.map((_, partition) => partition);
  let total = 0;
  for (const { tenant, sourceId } of sources) {
    const counts = await Promise.all(
      partitions.map((partition) => countEntities(store, partition, tenant, sourceId)),
    );
    total += sum(counts);
  }
  let done = 0;
  for (const { tenant, sourceId } of sources) {
    for (const partition of partitions) {
      for await (const snapshots of scanSnapshots(store, partition, tenant, sourceId)) {
        const text = snapshots.map((snapshot) => lineText(entityLine(tenant, snapshot))).join('');
        yield { text, entities: snapshots.length };
        done += snapshots.length;
        onProgress(done, total);
      }
    }
  }
  // Field types follow the entities, so that they include every type that an entity has decided.
  const isConfigured = new Set(sources.map(({ tenant, sourceId }) => `${tenant}:${sourceId}`));
  for await (const types of scanAutoFieldTypes(store)) {
    if (!isConfigured.has(`${types.tenant}:${types.sourceId}`)) continue;
    yield { text: lineText(fieldsLine(types)), entities: 0 };
  }
}

/** Appends the `end` line with count and checksum. */
async function* sealed(lines: AsyncIterable<Lines>, counted: { entities: number }): AsyncGenerator<Buffer> {
  const digest = createHash('sha256');
  for await (const { text, entities } of lines) {
    const bytes = Buffer.from(text);
    digest.update(bytes);
    counted.entities += entities;
    yield bytes;
  }
  const { entities } = counted;
  yield Buffer.from(lineText({ kind: 'end', entities, sha256: digest.digest('hex') }));
}
