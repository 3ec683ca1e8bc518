/**
 * Reads and writes snapshots of a worker's shards. They are a cache that is verified item by item, so a damaged or lost file
 * never changes an answer (docs/design/search.md "How a worker starts").
 */
import { setTimeout } from 'node:timers/promises';
import type { Configuration } from '../../../config/configuration.ts';
import {
  snapshotChangedShare,
  snapshotChangesMin,
  snapshotItemsMin,
  snapshotQuietMs,
  snapshotTimeShareMax,
} from '../../../contract/limits.ts';
import { repeat } from '../../../lib/repeat.ts';
import { SnapshotDamagedError } from '../../../search/snapshot/parts.ts';
import { indexOfField, itemIndexField, listItemIndexes } from '../../../store/derived/items.ts';
import type { AutoFields } from '../../../store/entities/auto-fields.ts';
import { StoreUnavailableError } from '../../../store/redis/redis-errors.ts';
import type { Store } from '../../../store/store.ts';
import {
  definitionOf,
  type IndexDefinition,
  knownFields,
  textOfDefinition,
} from '../../known-index-fields.ts';
import type { LiveShard } from '../live-shard.ts';
import type { ShardSet } from '../shard-set.ts';
import { codeDigest, openSnapshot, type SnapshotHead, writeSnapshot } from './snapshot-file.ts';
import { goneWorkersOf, SnapshotFolder } from './snapshot-folder.ts';

const pollMs = 1_000;

export interface SnapshotsOptions {
  readonly store: Store;
  readonly autoFields: AutoFields;
  readonly folder: SnapshotFolder;
  /** How long a shard must be unchanged before it is written; absent for the documented default. */
  readonly quietMs?: number;
  /** Called for each file that was read. @param items in the file, including those that differ from Redis and will be replaced */
  onRestored?(index: string, items: number): void;
  /**
   * Called once at start with the indexes whose files were discarded because another version wrote them or the definition
   * of the index has changed. That is normal: every upgrade does it.
   */
  onOutdated?(indexes: readonly string[]): void;
  /** Called once when the folder cannot be used, and for each damaged or unreadable file. */
  onError(message: string, error: unknown): void;
}

export interface OpenSnapshotsOptions extends Omit<SnapshotsOptions, 'folder'> {
  readonly folder: string;
  /** `<host>-<process>-<random>`, as in the heartbeat. */
  readonly workerId: string;
}

/** Opens the snapshots of a named set of shards. */
export type OpenSnapshots = (set: string) => ShardSnapshots;

/** The snapshots of a worker. */
export function snapshotsOf({ folder, workerId, ...options }: OpenSnapshotsOptions): OpenSnapshots {
  const { secret } = options.store;
  const goneWorkers = () => goneWorkersOf(options.store);
  return (set) =>
    new ShardSnapshots({
      ...options,
      folder: new SnapshotFolder({ folder, secret, workerId, set, goneWorkers }),
    });
}

interface WrittenShard {
  /** Weak, so that a dropped index frees its memory. Null when the file is from another process. */
  readonly live: WeakRef<LiveShard> | null;
  readonly changeCount: number;
}

/** The last observed state of a shard, to detect changes. */
interface SeenShard {
  readonly changeCount: number;
  readonly sinceMs: number;
}

export class ShardSnapshots {
  readonly #code = codeDigest();
  readonly #written = new Map<string, WrittenShard>();
  readonly #seen = new WeakMap<LiveShard, SeenShard>();
  readonly #stop = new AbortController();
  #polling: Promise<void> = Promise.resolve();
  /** Writes nothing before this time, to stay within its share of time. */
  #pausesUntilMs = 0;
  #isBroken = false;

  constructor(private readonly options: SnapshotsOptions) {}

  /** Fills shards from the files of dead workers, as far as possible. No partition may be open yet. */
  async restore(shards: ShardSet, configuration: Configuration): Promise<void> {
    try {
      await this.#restoreAll(shards, configuration);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      this.options.onError('index items are loaded without snapshots', error);
    }
  }

  /** Whether other workers on this host are reading snapshots. False if the folder cannot be read. */
  async othersAreRestoring(): Promise<boolean> {
    return await this.options.folder.othersAreReading().catch(() => false);
  }

  async #restoreAll(shards: ShardSet, configuration: Configuration): Promise<void> {
    const definitions = await this.#definitions(configuration);
    const outdated: string[] = [];
    await this.#usingDisk(async () => {
      await this.options.folder.make();
      const taken = await this.options.folder.takeOver([...definitions.keys()]);
      try {
        for (const [name, file] of taken) {
          const definition = definitions.get(name);
          if (definition === undefined) continue;
          if ((await this.#restoreOne(shards, name, definition, file)) === 'outdated') outdated.push(name);
        }
      } finally {
        for (const name of taken.keys()) await this.options.folder.keep(name);
      }
    });
    if (outdated.length > 0) this.options.onOutdated?.(outdated);
  }

  /** Writes shards that have changed a lot, whenever they are idle. */
  watch(shards: ShardSet): void {
    this.#polling = repeat(() => this.#poll(shards), {
      pauseMs: pollMs,
      signal: this.#stop.signal,
      onError: (error) => this.options.onError('snapshots were not written', error),
    });
  }

  /** Stops writing. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#polling;
  }

  /**
   * Writes all shards that have changed, for the next worker.
   * @param endsMs deadline, on the clock of `performance.now()`
   */
  async close(shards: ShardSet, endsMs: number): Promise<void> {
    await this.stop();
    const largestFirst = [...shards.liveShards].sort(([, a], [, b]) => b.shard.size - a.shard.size);
    for (const [name, live] of largestFirst) {
      if (this.#changesOf(name, live) === 0 || isSmall(live)) continue;
      await Promise.race([live.current(), setTimeout(endsMs - performance.now(), undefined, { ref: false })]);
      await this.#write(name, live, () => performance.now() >= endsMs);
    }
    await this.#removeOthers(shards);
  }

  /** The configured indexes that have items. */
  async #definitions(configuration: Configuration): Promise<Map<string, IndexDefinition>> {
    const { store } = this.options;
    const lists = await Promise.all(
      store.partitions.tags.map((_, partition) => listItemIndexes(store, partition)),
    );
    const definitions = new Map<string, IndexDefinition>();
    for (const index of lists.flat()) {
      const definition = definitionOf(configuration, index);
      if (definition !== null) definitions.set(itemIndexField(index), definition);
    }
    return definitions;
  }

  /** Fills a shard from its file. Removes an outdated or unreadable file. */
  async #restoreOne(
    shards: ShardSet,
    name: string,
    definition: IndexDefinition,
    file: string,
  ): Promise<'restored' | 'outdated' | 'unreadable'> {
    try {
      const items = await this.#read(shards, name, definition, file);
      if (items === null) {
        await this.options.folder.remove(name);
        return 'outdated';
      }
      this.options.onRestored?.(name, items);
      this.#written.set(name, { live: null, changeCount: 0 });
      return 'restored';
    } catch (error) {
      if (!(error instanceof SnapshotDamagedError || isOfDisk(error))) throw error;
      await this.options.folder.remove(name);
      this.options.onError(
        `the snapshot of index ${name} is damaged or cannot be read: its items are loaded from Redis instead`,
        error,
      );
      return 'unreadable';
    }
  }

  /**
   * @returns number of items; null when the file is outdated
   * @throws SnapshotDamagedError; I/O errors
   */
  async #read(
    shards: ShardSet,
    name: string,
    definition: IndexDefinition,
    file: string,
  ): Promise<number | null> {
    const { head, parts, close } = await openSnapshot(file);
    try {
      if (!(await this.#fits(head, name, definition))) return null;
      return await shards.restore(indexOfField(name), definition, new Map(head.fields), parts);
    } finally {
      await close();
    }
  }

  /** False when other code wrote the snapshot, or the index now has another definition or other fields. */
  async #fits(
    { identity, fields }: SnapshotHead,
    name: string,
    definition: IndexDefinition,
  ): Promise<boolean> {
    if (identity !== this.#identityOf(name, definition)) return false;
    if (definition.kind === 'schema') return true;
    await this.options.autoFields.read(definition.tenant, definition.sourceId, definition.type);
    const known = knownFields(definition, this.options.autoFields);
    return fields.every(([field, type]) => known.get(field) === type);
  }

  #identityOf(name: string, definition: IndexDefinition): string {
    return JSON.stringify([this.#code, name, textOfDefinition(definition)]);
  }

  async #poll(shards: ShardSet): Promise<void> {
    for (const [name, live] of shards.liveShards) {
      if (!this.#isQuiet(live) || !this.#isDue(name, live)) continue;
      const startedMs = performance.now();
      await this.#write(name, live, () => this.#stop.signal.aborted);
      const tookMs = performance.now() - startedMs;
      this.#pausesUntilMs = performance.now() + tookMs / snapshotTimeShareMax;
    }
    await this.#removeOthers(shards);
  }

  #isQuiet(live: LiveShard): boolean {
    const seen = this.#seen.get(live);
    const nowMs = performance.now();
    if (seen?.changeCount !== live.changeCount) {
      this.#seen.set(live, { changeCount: live.changeCount, sinceMs: nowMs });
      return false;
    }
    return nowMs - seen.sinceMs >= (this.options.quietMs ?? snapshotQuietMs) && live.canAnswer;
  }

  #isDue(name: string, live: LiveShard): boolean {
    const enough = Math.max(snapshotChangesMin, live.shard.size * snapshotChangedShare);
    return (
      !isSmall(live) && this.#changesOf(name, live) >= enough && performance.now() >= this.#pausesUntilMs
    );
  }

  /** How many changes are missing in the file of a shard. */
  #changesOf(name: string, live: LiveShard): number {
    const written = this.#written.get(name);
    const isFollowed = written !== undefined && (written.live === null || written.live.deref() === live);
    return isFollowed ? live.changeCount - written.changeCount : Number.POSITIVE_INFINITY;
  }

  /** @param isOver true to give up, as it does when the shard changes */
  async #write(name: string, live: LiveShard, isOver: () => boolean): Promise<void> {
    if (!live.isCurrent) return;
    const { changeCount, shard, definition } = live;
    const head = { identity: this.#identityOf(name, definition), fields: shard.fieldTypes };
    await this.#usingDisk(async () => {
      // It may have been deleted since the start.
      await this.options.folder.make();
      const file = this.options.folder.fileOf(name);
      const isStale = () => live.changeCount !== changeCount || isOver();
      const isWritten = await writeSnapshot(file, head, shard.parts(), isStale);
      if (isWritten) this.#written.set(name, { live: new WeakRef(live), changeCount });
    });
  }

  /** Removes the files of dropped indexes and of shards that have become small. */
  async #removeOthers(shards: ShardSet): Promise<void> {
    for (const name of this.#written.keys()) {
      const live = shards.liveShards.get(name);
      if (live === undefined ? shards.has(name) : !isSmall(live) || !live.canAnswer) continue;
      await this.#usingDisk(() => this.options.folder.remove(name));
      this.#written.delete(name);
    }
  }

  /** Runs a file operation. An I/O error is reported once and not thrown. */
  async #usingDisk(act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.#isBroken = false;
    } catch (error) {
      if (!isOfDisk(error)) throw error;
      if (!this.#isBroken) this.options.onError('snapshots of the index shards cannot be written', error);
      this.#isBroken = true;
    }
  }
}

function isOfDisk(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function isSmall({ shard }: LiveShard): boolean {
  return shard.size < snapshotItemsMin;
}
