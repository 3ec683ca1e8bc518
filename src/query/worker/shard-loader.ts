import { setImmediate } from 'node:timers/promises';
import { shardSliceMs } from '../../contract/limits.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { EncodedItem, StoredItem } from '../../store/derived/item-record.ts';
import { decodeItems, type ScopedIndex, scanItems } from '../../store/derived/items.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import type { Store } from '../../store/store.ts';
import type { HeldPartition } from './held-partitions.ts';
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
