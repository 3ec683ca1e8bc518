/**
 * A worker's shards: one for each index of an environment, with the items of all partitions that the worker owns. The items of
 * a partition are loaded from Redis when it is opened, follow its commits afterwards, and are dropped when it is closed.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Configuration } from '../../config/configuration.ts';
import { sum } from '../../lib/lists.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import type { PartReader } from '../../search/snapshot/parts.ts';
import type { StoredItem } from '../../store/derived/item-record.ts';
import {
  countItems,
  type ItemChange,
  type ItemSink,
  indexOfField,
  itemIndexField,
  listItemIndexes,
  type ScopedIndex,
} from '../../store/derived/items.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import type { Store } from '../../store/store.ts';
import { definitionOf, type IndexDefinition, sameDefinition } from '../known-index-fields.ts';
import { LiveShard } from './live-shard.ts';
import { CatchUp, type HeldPartition, HeldPartitions, ShardLoader } from './shard-loader.ts';

const rebuildRetryMs = 500;
/** At the start of a worker, partitions are opened at most this long after each other. */
const nextLoadMs = 100;
/** Partitions of a snapshot that another worker owns are opened at most this long after the others, or never. */
const releaseMs = 1_500;

export class ShardSet implements ItemSink {
  readonly held = new HeldPartitions();
  /** Shards by `itemIndexField`. */
  readonly #shards = new Map<string, LiveShard>();
  /** Shards that replace those in `#shards` once they are filled. */
  readonly #rebuilding = new Map<string, LiveShard>();
  /** Shards from snapshots, before their first partition is opened. */
  readonly #restored = new Map<string, LiveShard>();
  readonly #restoredPartitions = new Set<number>();
  readonly #listeners: (() => void)[] = [];
  readonly #catchUp = new CatchUp(() => this.#notify());
  readonly #loader: ShardLoader;
  /** Shards whose field types are being read. */
  readonly #learning = new Set<LiveShard>();
  /** Timer for dropping unconfirmed items of snapshots. */
  #dropping: NodeJS.Timeout | undefined;
  #keepsAll = false;
  #isKept = false;
  /** Configuration that all shards follow; null while some follow an earlier one. */
  #followed: Configuration | null;
  /** Loads run one after the other. Concurrent loads would only compete for the event loop. */
  #queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: Store,
    private readonly autoFields: AutoFields,
    /** Null before the first `reconfigure`: there are no indexes then. */
    private configuration: Configuration | null,
    /**
     * Reads the number of the last commit, which items that were just read may be from. Absent if this process makes all
     * commits itself.
     * @throws StoreUnavailableError
     */
    private readonly lastCommit?: (partition: number) => Promise<number>,
  ) {
    this.#followed = configuration;
    this.#loader = new ShardLoader(store, autoFields, this.#catchUp);
  }

  /** Adds a listener for applied commits, and for loaded and closed partitions. */
  onProgress(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Digest of the configuration that all shards follow; null while one of them is being rebuilt. */
  get followed(): string | null {
    return this.#followed?.digest ?? null;
  }

  /** The shard of an index, with its pending changes; null if there are no items here. @param name from `itemIndexField` */
  live(name: string): LiveShard | null {
    return this.#shards.get(name) ?? null;
  }

  /** All shards, by `itemIndexField`. */
  get liveShards(): ReadonlyMap<string, LiveShard> {
    return this.#shards;
  }

  /** True if an index has a shard here, also a restored one that waits for its first partition. */
  has(name: string): boolean {
    return this.#shards.has(name) || this.#restored.has(name);
  }

  /** Partitions whose items were restored. */
  get restoredPartitions(): ReadonlySet<number> {
    return this.#restoredPartitions;
  }

  get #hasAllRestored(): boolean {
    return [...this.#restoredPartitions].every((partition) => this.held.get(partition) !== undefined);
  }

  /** True if the shards still have closed partitions. They can no longer answer then. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Keeps the items of partitions that are closed from now on, for the snapshot of a stopping worker. */
  keepAll(): void {
    this.#keepsAll = true;
  }

  /**
   * Fills the shard of an index from a snapshot. It is used when items of the index are loaded, so no partition may be open
   * yet.
   * @param fields fields of the snapshot, in its order
   * @returns number of items
   * @throws SnapshotDamagedError; nothing is changed then
   */
  async restore(
    index: ScopedIndex,
    definition: IndexDefinition,
    fields: ReadonlyMap<string, FieldType>,
    from: PartReader,
  ): Promise<number> {
    const live = this.#createLiveShard(definition, fields);
    await live.shard.restore(from);
    this.#restored.set(itemIndexField(index), live);
    for (const partition of live.shard.partitions()) this.#restoredPartitions.add(partition);
    return live.shard.size;
  }

  /**
   * Loads the items of a partition, unless it is closed before or meanwhile.
   * @throws StoreUnavailableError; then the partition is closed again
   */
  async open(partition: number, epoch: number, commits: number): Promise<void> {
    this.close(partition);
    clearTimeout(this.#dropping);
    const held = this.held.open(partition, epoch, commits);
    try {
      // A partition that is closed must not wait for the loads of others.
      await Promise.race([this.#inTurn(() => this.#load(partition, held)), held.closed]);
      if (held.isClosed) return;
      await this.#recordShown(partition, held);
      held.isLoaded = true;
    } catch (error) {
      if (!held.isClosed) this.close(partition);
      throw error;
    } finally {
      if (this.held.loading.length === 0) this.#dropUnconfirmedSoon();
    }
    this.#notify();
  }

  /**
   * Applies the changes of a commit. Expensive changes are applied in the background; until then the shards are not current.
   * @param commits number of the last commit that the shards then have completely
   * @param shows number of the last commit that some of the changes may be from
   */
  apply(partition: number, commits: number, changes: readonly ItemChange[], shows = commits): void {
    const held = this.held.get(partition);
    if (held === undefined) return;
    held.commits = Math.max(held.commits, commits);
    held.shows = Math.max(held.shows, shows);
    const changed = new Set<LiveShard>();
    for (const { scope, index, sourceId, originId, item } of changes) {
      const name = itemIndexField({ scope, index });
      for (const live of [this.#liveShard(name, { scope, index }), this.#rebuilding.get(name)]) {
        if (live == null) continue;
        live.change(partition, sourceId, originId, item);
        changed.add(live);
      }
    }
    this.#catchUp.advance(changed);
    this.#notify();
  }

  /** Reads the types of fields of these items that this process does not know. @throws StoreUnavailableError */
  async learnFields(index: ScopedIndex, items: readonly StoredItem[]): Promise<void> {
    const live = this.#liveShard(itemIndexField(index), index);
    if (live !== null) await this.#loader.learnFields(live, items);
  }

  /** Reads the field types of an index again, and reindexes the fields whose types have changed. */
  learnTypes(index: ScopedIndex): void {
    const live = this.live(itemIndexField(index));
    if (live === null || this.#learning.has(live)) return;
    this.#learning.add(live);
    this.#loader
      .readTypes(live)
      .then(() => {
        live.learn();
        this.#catchUp.advance([live]);
      })
      .catch((error) => {
        // A waiting request triggers it again.
        if (!(error instanceof StoreUnavailableError)) throw error;
      })
      .finally(() => {
        this.#learning.delete(live);
        this.#notify();
      });
  }

  close(partition: number): void {
    if (!this.held.close(partition)) return;
    if (this.#keepsAll) {
      this.#isKept = true;
      this.#notify();
      return;
    }
    const liveShards = [...this.#shards.values(), ...this.#rebuilding.values()];
    for (const live of liveShards) live.drop(partition);
    this.#catchUp.advance(liveShards);
    this.#notify();
  }

  /**
   * Applies a changed configuration. Drops removed indexes, and rebuilds those with changed fields from Redis, while their
   * previous shards continue to answer. If Redis is unavailable, it retries until it succeeds.
   */
  async reconfigure(configuration: Configuration): Promise<void> {
    this.configuration = configuration;
    this.#followed = null;
    const unchanged = new Set<string>();
    for (const [name, live] of this.#shards) {
      const definition = definitionOf(configuration, indexOfField(name));
      if (definition === null) this.#shards.delete(name);
      else if (sameDefinition(definition, live.definition)) unchanged.add(name);
    }
    for (;;) {
      try {
        return await this.#inTurn(() => this.#rebuild(configuration, unchanged));
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        await sleep(rebuildRetryMs, undefined, { ref: false });
      }
    }
  }

  async #rebuild(configuration: Configuration, unchanged: ReadonlySet<string>): Promise<void> {
    if (configuration !== this.configuration) return;
    const names = new Set(this.#shards.keys());
    for (const [partition] of this.held) {
      for (const index of await listItemIndexes(this.store, partition)) names.add(itemIndexField(index));
    }
    for (const name of names) {
      if (unchanged.has(name)) continue;
      const index = indexOfField(name);
      const definition = definitionOf(configuration, index);
      if (definition === null) continue;
      const next = this.#createLiveShard(definition);
      this.#rebuilding.set(name, next);
      try {
        for (const [partition, held] of [...this.held]) await this.#loader.load(next, index, partition, held);
        for (const [partition, held] of [...this.held]) await this.#recordShown(partition, held);
        if (configuration !== this.configuration) return;
        this.#shards.set(name, next);
      } finally {
        this.#rebuilding.delete(name);
      }
    }
    if (configuration === this.configuration) this.#followed = configuration;
  }

  /**
   * Must be called when no load is left that could confirm items of a snapshot. It waits, because further loads may follow.
   */
  #dropUnconfirmedSoon(): void {
    clearTimeout(this.#dropping);
    const isLeft = [...this.#shards.values()].some(({ shard }) => shard.hasUnconfirmed);
    if (this.#restored.size === 0 && !isLeft) return;
    this.#dropping = setTimeout(
      () => {
        this.#restored.clear();
        const liveShards = [...this.#shards.values()];
        for (const live of liveShards) live.dropUnconfirmed();
        this.#catchUp.advance(liveShards);
        this.#notify();
      },
      this.#hasAllRestored ? nextLoadMs : releaseMs,
    );
    this.#dropping.unref();
  }

  async #load(partition: number, held: HeldPartition): Promise<void> {
    if (held.isClosed) return;
    const indexes = await listItemIndexes(this.store, partition);
    const counts = await Promise.all(indexes.map((index) => countItems(this.store, partition, index)));
    held.progress.total = sum(counts);
    for (const index of indexes) {
      const live = this.#liveShard(itemIndexField(index), index);
      if (live === null) continue;
      await this.#loader.load(live, index, partition, held, (count) => {
        held.progress.done += count;
      });
    }
  }

  /** Must be called after items were read, before answers can show them. */
  async #recordShown(partition: number, held: HeldPartition): Promise<void> {
    if (this.lastCommit !== undefined) held.shows = Math.max(held.shows, await this.lastCommit(partition));
  }

  /** The shard of an index, created when it is first needed; null if the index is not configured. */
  #liveShard(name: string, index: ScopedIndex): LiveShard | null {
    const live = this.#shards.get(name);
    if (live !== undefined) return live;
    const definition = this.configuration && definitionOf(this.configuration, index);
    if (definition === null) return null;
    const restored = this.#restored.get(name);
    this.#restored.delete(name);
    const isUsable = restored !== undefined && sameDefinition(restored.definition, definition);
    const created = isUsable ? restored : this.#createLiveShard(definition);
    this.#shards.set(name, created);
    return created;
  }

  /** @param fields the known ones if absent */
  #createLiveShard(definition: IndexDefinition, fields?: ReadonlyMap<string, FieldType>): LiveShard {
    return new LiveShard(definition, this.autoFields, (live) => this.#catchUp.soon(live), fields);
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const turn = this.#queue.then(task);
    this.#queue = turn.catch(() => {});
    return turn;
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
