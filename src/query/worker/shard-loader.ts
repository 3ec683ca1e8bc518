import { setImmediate } from 'node:timers/promises';
import { shardSliceMs } from '../../contract/limits.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { EncodedItem, StoredItem } from '../../store/derived/item-record.ts';
import { decodeItems, type ScopedIndex, scanItems } from '../../store/derived/items.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import type { Store } from '../../store/store.ts';
import type { Coverage } from '../protocol/shard-reply.ts';
import type { Fill, LiveShard } from './live-shard.ts';

/** Applies the pending changes of shards: for one slice immediately, the rest in the background. */
export class CatchUp {
  /** Shards with pending changes; the first one is next. */
  readonly #behind = new Set<LiveShard>();
  #isRunning = false;

  /** @param onCurrent called when a shard that was behind is current */
  constructor(private readonly onCurrent: () => void) {}

  /** Applies changes for a slice. The rest follows in the background. */
  advance(shards: Iterable<LiveShard>): void {
    const endsMs = performance.now() + shardSliceMs;
    for (const live of shards) if (!live.advance(endsMs)) this.soon(live);
  }

  soon(live: LiveShard): void {
    this.#behind.add(live);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    // Skips pinned shards: `soon` is called for each when its last pin is removed.
    for (let live = this.#next(); live !== null; live = this.#next()) {
      await setImmediate();
      if (!live.advance(performance.now() + shardSliceMs)) continue;
      this.#behind.delete(live);
      this.onCurrent();
    }
    this.#isRunning = false;
  }

  /** The next shard that is not pinned. Shards take turns. */
  #next(): LiveShard | null {
    for (const live of this.#behind) {
      if (live.isPinned) continue;
      this.#behind.delete(live);
      this.#behind.add(live);
      return live;
    }
    return null;
  }
}

/** Loads the items of a partition from Redis into a shard. */
export class ShardLoader {
  constructor(
    private readonly store: Store,
    private readonly autoFields: AutoFields,
    private readonly catchUp: CatchUp,
  ) {}

  /**
   * Loads the items, unless the partition is closed meanwhile. An item that changes meanwhile is not overwritten.
   * @param onItems called with the number of items of each loaded portion
   * @throws StoreUnavailableError
   */
  async load(
    live: LiveShard,
    { scope, index }: ScopedIndex,
    partition: number,
    held: HeldPartition,
    onItems: (count: number) => void = () => {},
  ): Promise<void> {
    const fill = live.begin(partition);
    try {
      const portions = scanItems(this.store, partition, scope, index);
      let coming = portions.next();
      for (;;) {
        const { done, value } = await coming;
        if (done || held.isClosed) return;
        // The next portion is fetched while this one is indexed, so two are in memory at a time.
        coming = portions.next();
        coming.catch(() => {});
        const items = await decodeItems(await this.#unconfirmed(live, fill, value));
        await this.learnFields(live, items);
        await this.#putAll(live, fill, items, held);
        onItems(value.length);
      }
    } finally {
      live.end(fill);
    }
  }

  /** @returns the items that are not in the snapshot, or differ from it */
  async #unconfirmed(
    live: LiveShard,
    fill: Fill,
    items: readonly EncodedItem[],
  ): Promise<readonly EncodedItem[]> {
    if (!live.shard.hasUnconfirmed) return items;
    await live.current();
    const left: EncodedItem[] = [];
    const slice = new Slice(shardSliceMs);
    for (const item of items) {
      if (!live.confirm(fill, item)) left.push(item);
      if (slice.isOver) await slice.next();
    }
    return left;
  }

  async #putAll(
    live: LiveShard,
    fill: Fill,
    items: readonly StoredItem[],
    held: HeldPartition,
  ): Promise<void> {
    let sliceEndsMs = performance.now() + shardSliceMs;
    for (const item of items) {
      if (held.isClosed) return;
      live.found(fill, item);
      if (live.advance(sliceEndsMs) && performance.now() < sliceEndsMs) continue;
      await setImmediate();
      if (!live.isCurrent) this.catchUp.soon(live);
      await live.current();
      sliceEndsMs = performance.now() + shardSliceMs;
    }
  }

  /**
   * Reads field types that this process does not know. Types are decided before items are stored, so Redis has all of them.
   */
  async learnFields(live: LiveShard, items: readonly StoredItem[]): Promise<void> {
    if (live.definition.kind === 'schema' || items.every((item) => live.knows(item))) return;
    await this.readTypes(live);
  }

  /** @throws StoreUnavailableError */
  async readTypes({ definition }: LiveShard): Promise<void> {
    if (definition.kind === 'schema') return;
    await this.autoFields.read(definition.tenant, definition.sourceId, definition.type);
  }
}

/** A partition whose items are here, loaded or loading. */
export class HeldPartition {
  /** Number of the last commit that may be partly in the shards. */
  shows: number;
  isLoaded = false;
  isClosed = false;
  /** Items loaded so far, and items to load as counted when the load began. */
  readonly progress = { done: 0, total: 0 };
  /** Resolves when the partition is closed, even if it is opened again. */
  readonly closed: Promise<void>;
  #resolveClosed = () => {};

  /** @param commits number of the last applied commit */
  constructor(
    readonly epoch: number,
    public commits: number,
  ) {
    this.shows = commits;
    this.closed = new Promise<void>((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  close(): void {
    this.isClosed = true;
    this.#resolveClosed();
  }
}

interface PartitionLoad {
  readonly partition: number;
  /** See `HeldPartition.progress`. */
  readonly done: number;
  readonly total: number;
}

/** The partitions of a worker's shards. */
export class HeldPartitions {
  readonly #held = new Map<number, HeldPartition>();

  /** Adds a partition that is not here. */
  open(partition: number, epoch: number, commits: number): HeldPartition {
    const held = new HeldPartition(epoch, commits);
    this.#held.set(partition, held);
    return held;
  }

  /** @returns false if it is not here */
  close(partition: number): boolean {
    this.#held.get(partition)?.close();
    return this.#held.delete(partition);
  }

  get(partition: number): HeldPartition | undefined {
    return this.#held.get(partition);
  }

  [Symbol.iterator](): IterableIterator<[partition: number, held: HeldPartition]> {
    return this.#held.entries();
  }

  /** True if these partitions are here with these epochs, and no others. */
  areExactly(covers: Coverage): boolean {
    if (this.#held.size !== covers.size) return false;
    for (const [partition, { epoch }] of this.#held) if (covers.get(partition) !== epoch) return false;
    return true;
  }

  /** Number of the last applied commit; null while the partition is not loaded. */
  applied(partition: number): number | null {
    const held = this.#held.get(partition);
    return held?.isLoaded ? held.commits : null;
  }

  /**
   * Number of the last commit that answers can show at least in part. It equals `applied` unless another process makes the
   * commits.
   */
  shows(partition: number): number {
    return this.#held.get(partition)?.shows ?? 0;
  }

  /** Running and waiting loads. */
  get loading(): PartitionLoad[] {
    const loading = [...this.#held].filter(([, { isLoaded }]) => !isLoaded);
    return loading.map(([partition, { progress }]) => ({ partition, ...progress }));
  }

  /** Description of the pending loads, for `/health/ready`: at most one line, because loads run one after the other. */
  get waitingFor(): string[] {
    const [load, ...others] = this.loading;
    if (load === undefined) return [];
    const { partition, done, total } = load;
    const then = others.length === 0 ? '' : `, then those of ${others.length} more`;
    return [`index items of partition ${partition}: ${done} of ${total}${then}`];
  }
}
