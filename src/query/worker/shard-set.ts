/**
 * A worker's shards: one per index of an environment, over all partitions that the worker owns. They are built from
 * Redis when a partition is opened, follow the commits from there, and are dropped when it is closed.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Configuration } from '../../config/configuration.ts';
import type { Shard } from '../../search/shard/shard.ts';
import type { ItemChange, ItemSink } from '../../store/derived/item-sink.ts';
import type { StoredItem } from '../../store/derived/items.ts';
import {
  countItems,
  itemIndexField,
  listItemIndexes,
  type ScopedIndex,
  scanItems,
} from '../../store/derived/items.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { StoreUnavailableError } from '../../store/redis/errors.ts';
import type { Store } from '../../store/store.ts';
import { definitionOf, type IndexDefinition, sameDefinition } from '../front/index-fields.ts';
import { LiveShard } from './live-shard.ts';

/** Loads and changes give way to queries and leases after this long. */
const sliceMs = 8;
const rebuildRetryMs = 500;

interface HeldPartition {
  readonly epoch: number;
  commits: number;
  loaded: boolean;
}

interface LoadProgress {
  done: number;
  total: number;
}

export interface PartitionLoad {
  readonly partition: number;
  /** Items loaded so far, and items to load as counted when the load began. */
  readonly done: number;
  readonly total: number;
}

export class ShardSet implements ItemSink {
  /** By `itemIndexField`. */
  readonly #shards = new Map<string, LiveShard>();
  /** Shards that will take the place of those in `#shards` once they are filled. */
  readonly #rebuilding = new Map<string, LiveShard>();
  readonly #held = new Map<number, HeldPartition>();
  readonly #loads = new Map<number, LoadProgress>();
  readonly #listeners: (() => void)[] = [];
  /** Shards with changes that wait. */
  readonly #behind = new Set<LiveShard>();
  #isCatchingUp = false;
  /** Configuration that all shards follow; null while some still follow a former one. */
  #followed: Configuration | null;
  /** Loads go one after the other: together they would only crowd the event loop. */
  #queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: Store,
    private readonly autoFields: AutoFields,
    /** Null until the first `reconfigure`: then there are no indexes. */
    private configuration: Configuration | null,
  ) {
    this.#followed = configuration;
  }

  /** Called when a partition has applied a commit, was loaded or was closed. */
  onProgress(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Partitions that have items here, whole or in part, with the epochs they were opened with. */
  get held(): ReadonlyMap<number, { readonly epoch: number }> {
    return this.#held;
  }

  /** Number of the last commit that is in the shards; null while the partition is not loaded. */
  applied(partition: number): number | null {
    const held = this.#held.get(partition);
    return held?.loaded ? held.commits : null;
  }

  /** Digest of the configuration that all shards follow; null while one of them is being built anew. */
  get followed(): string | null {
    return this.#followed?.digest ?? null;
  }

  /** Loads under way, for `/health/ready`. */
  get loading(): PartitionLoad[] {
    return [...this.#loads].map(([partition, progress]) => ({ partition, ...progress }));
  }

  /** The items of an index that are here; null when there are none. @param name from `itemIndexField` */
  shard(name: string): Shard | null {
    return this.#shards.get(name)?.shard ?? null;
  }

  /** As `shard`, with what waits to be applied to it. */
  live(name: string): LiveShard | null {
    return this.#shards.get(name) ?? null;
  }

  /** @throws StoreUnavailableError; then the partition is closed again */
  async open(partition: number, epoch: number, commits: number): Promise<void> {
    this.close(partition);
    const held: HeldPartition = { epoch, commits, loaded: false };
    const progress: LoadProgress = { done: 0, total: 0 };
    this.#held.set(partition, held);
    this.#loads.set(partition, progress);
    try {
      await this.#inTurn(() => this.#load(partition, held, progress));
      held.loaded = true;
    } catch (error) {
      if (this.#held.get(partition) === held) this.close(partition);
      throw error;
    } finally {
      if (this.#loads.get(partition) === progress) this.#loads.delete(partition);
    }
    this.#tell();
  }

  /** What takes long is applied bit by bit: until then `live` tells that its shards are behind. */
  apply(partition: number, commits: number, changes: readonly ItemChange[]): void {
    const held = this.#held.get(partition);
    if (held === undefined) return;
    held.commits = Math.max(held.commits, commits);
    const changed = new Set<LiveShard>();
    for (const { scope, index, sourceId, originId, item } of changes) {
      const name = itemIndexField({ scope, index });
      for (const live of [this.#liveShard(name, { scope, index }), this.#rebuilding.get(name)]) {
        if (live == null) continue;
        live.change(partition, sourceId, originId, item);
        changed.add(live);
      }
    }
    this.#advance(changed);
    this.#tell();
  }

  /** Applies what waits as far as it takes no longer than others may wait, and the rest soon. */
  #advance(lives: Iterable<LiveShard>): void {
    const endsMs = performance.now() + sliceMs;
    for (const live of lives) if (!live.advance(endsMs)) this.#catchUpSoon(live);
  }

  #catchUpSoon(live: LiveShard): void {
    this.#behind.add(live);
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    void this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    // Those that are pinned are told of when they are let go.
    for (let live = this.#nextBehind(); live !== null; live = this.#nextBehind()) {
      await setImmediate();
      if (!live.advance(performance.now() + sliceMs)) continue;
      this.#behind.delete(live);
      this.#tell();
    }
    this.#isCatchingUp = false;
  }

  /** In turn. */
  #nextBehind(): LiveShard | null {
    for (const live of this.#behind) {
      if (live.isPinned) continue;
      this.#behind.delete(live);
      this.#behind.add(live);
      return live;
    }
    return null;
  }

  close(partition: number): void {
    if (!this.#held.delete(partition)) return;
    this.#loads.delete(partition);
    const lives = [...this.#shards.values(), ...this.#rebuilding.values()];
    for (const live of lives) live.drop(partition);
    this.#advance(lives);
    this.#tell();
  }

  /**
   * Follows a changed configuration: drops indexes that are gone, and builds those with other fields anew from Redis
   * while their last state goes on answering. Goes on when Redis comes back after it did not answer.
   */
  async reconfigure(configuration: Configuration): Promise<void> {
    this.configuration = configuration;
    this.#followed = null;
    const unchanged = new Set<string>();
    for (const [name, live] of this.#shards) {
      const definition = definitionOf(configuration, scopedIndex(name));
      if (definition === null) this.#shards.delete(name);
      else if (sameDefinition(definition, live.definition)) unchanged.add(name);
    }
    for (;;) {
      try {
        return await this.#inTurn(() => this.#rebuild(configuration, unchanged));
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        await setTimeout(rebuildRetryMs, undefined, { ref: false });
      }
    }
  }

  async #rebuild(configuration: Configuration, unchanged: ReadonlySet<string>): Promise<void> {
    if (configuration !== this.configuration) return;
    const names = new Set(this.#shards.keys());
    for (const partition of this.#held.keys()) {
      for (const index of await listItemIndexes(this.store, partition)) names.add(itemIndexField(index));
    }
    for (const name of names) {
      if (unchanged.has(name)) continue;
      const index = scopedIndex(name);
      const definition = definitionOf(configuration, index);
      if (definition === null) continue;
      const next = this.#newLive(definition);
      this.#rebuilding.set(name, next);
      try {
        for (const [partition, held] of [...this.#held]) await this.#fill(next, index, partition, held);
        if (configuration !== this.configuration) return;
        this.#shards.set(name, next);
      } finally {
        this.#rebuilding.delete(name);
      }
    }
    if (configuration === this.configuration) this.#followed = configuration;
  }

  async #load(partition: number, held: HeldPartition, progress: LoadProgress): Promise<void> {
    const indexes = await listItemIndexes(this.store, partition);
    const counts = await Promise.all(indexes.map((index) => countItems(this.store, partition, index)));
    progress.total = counts.reduce((sum, count) => sum + count, 0);
    for (const index of indexes) {
      const live = this.#liveShard(itemIndexField(index), index);
      if (live === null) continue;
      await this.#fill(live, index, partition, held, progress);
    }
  }

  /** Ends early when the partition is closed in between. */
  async #fill(
    live: LiveShard,
    { scope, index }: ScopedIndex,
    partition: number,
    held: HeldPartition,
    progress: LoadProgress = { done: 0, total: 0 },
  ): Promise<void> {
    const fill = live.begin(partition);
    try {
      const portions = scanItems(this.store, partition, scope, index);
      let coming = portions.next();
      for (;;) {
        const { done, value } = await coming;
        if (done || this.#held.get(partition) !== held) return;
        // The next portion is fetched while this one is indexed: two are in memory at a time.
        coming = portions.next();
        coming.catch(() => {});
        await this.#learnFields(live, value);
        await this.#putAll(live, fill, value, () => this.#held.get(partition) === held);
        progress.done += value.length;
      }
    } finally {
      live.end(fill);
    }
  }

  async #putAll(
    live: LiveShard,
    fill: ReturnType<LiveShard['begin']>,
    items: readonly StoredItem[],
    isHeld: () => boolean,
  ): Promise<void> {
    let sliceEndsMs = performance.now() + sliceMs;
    for (const item of items) {
      if (!isHeld()) return;
      live.found(fill, item);
      if (live.advance(sliceEndsMs) && performance.now() < sliceEndsMs) continue;
      await setImmediate();
      if (!live.isCurrent) this.#catchUpSoon(live);
      await live.current();
      sliceEndsMs = performance.now() + sliceMs;
    }
  }

  /** Fields of stored items were decided before the items were stored, so Redis knows them all. */
  async #learnFields(live: LiveShard, items: readonly StoredItem[]): Promise<void> {
    const { definition } = live;
    if (definition.kind === 'schema' || items.every((item) => live.knows(item))) return;
    await this.autoFields.read(definition.tenant, definition.sourceId, definition.type);
  }

  /** Makes it at the first item; null when the configuration has no such index. */
  #liveShard(name: string, index: ScopedIndex): LiveShard | null {
    const live = this.#shards.get(name);
    if (live !== undefined) return live;
    const definition = this.configuration && definitionOf(this.configuration, index);
    if (definition === null) return null;
    const made = this.#newLive(definition);
    this.#shards.set(name, made);
    return made;
  }

  #newLive(definition: IndexDefinition): LiveShard {
    return new LiveShard(definition, this.autoFields, (live) => this.#catchUpSoon(live));
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const turn = this.#queue.then(task);
    this.#queue = turn.catch(() => {});
    return turn;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function scopedIndex(name: string): ScopedIndex {
  const [tenant = '', environmentId = '', ...index] = name.split('|');
  return { scope: { tenant, environmentId }, index: index.join('|') };
}
