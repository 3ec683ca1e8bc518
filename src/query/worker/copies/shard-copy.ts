/**
 * A copy of the shards of a group of partitions, independent of their owners. It is loaded from Redis and follows the announced
 * commits. Items are read after the commits that changed them, so some may be of later commits. So there are two positions: the
 * last completely applied commit (`applied`) and the last one that answers can show (`shows`).
 */
import type { Configuration } from '../../../config/configuration.ts';
import { type ChangedItems, changedItems, type ItemChange, readItems } from '../../../store/derived/items.ts';
import type { AutoFields } from '../../../store/entities/auto-fields.ts';
import { readCommittedState } from '../../../store/partitions/partition-state.ts';
import { StoreUnavailableError } from '../../../store/redis/redis-errors.ts';
import type { Store } from '../../../store/store.ts';
import { ItemChangesFollower, type ItemCommits } from '../../../store/streams/changes-stream.ts';
import type { StreamSource } from '../../../store/streams/shared-streams.ts';
import { StreamGapError } from '../../../store/streams/stream.ts';
import { formatGroup, type PartitionGroup, partitionsOf } from '../../protocol/shard-request.ts';
import { ShardSet } from '../shard-set.ts';
import { ShardState } from '../shard-state.ts';
import type { ShardSnapshots } from '../snapshots/shard-snapshots.ts';

/** Number of items of one index per read. */
const itemsPerRead = 100;
/** A copy has no lease on its partitions. */
const noEpoch = 0;

export interface CopyContext {
  readonly store: Store;
  /** The change streams of all partitions. */
  readonly streams: StreamSource;
  readonly autoFields: AutoFields;
  /** Null for no snapshots. */
  readonly snapshots: ShardSnapshots | null;
  onError(message: string, error: unknown): void;
}

export class ShardCopy {
  readonly shards: ShardSet;
  readonly partitions: readonly number[];
  readonly #name: string;
  readonly #followers: readonly ItemChangesFollower[];
  #isClosed = false;

  constructor(
    private readonly context: CopyContext,
    readonly group: PartitionGroup,
    private readonly configuration: Configuration | null,
  ) {
    const { store, streams, autoFields } = context;
    this.#name = formatGroup(group);
    this.partitions = partitionsOf(group, store.partitions.count);
    this.shards = new ShardSet(store, autoFields, configuration, (partition) => this.#lastCommit(partition));
    const listener = {
      onGap: (partition: number) => this.#load(partition),
      onCommits: (partition: number, commits: ItemCommits) => this.#apply(partition, commits),
      onLost: (partition: number, why: unknown) => this.#onLost(partition, why),
    };
    this.#followers = this.partitions.map(
      (partition) => new ItemChangesFollower(store, streams, partition, listener),
    );
  }

  start(): void {
    void this.#run();
  }

  async #run(): Promise<void> {
    const { snapshots } = this.context;
    if (this.configuration !== null) await snapshots?.restore(this.shards, this.configuration);
    if (this.#isClosed) return;
    for (const follower of this.#followers) void follower.run();
    snapshots?.watch(this.shards);
  }

  /** Stops following, and writes a snapshot for the next worker. @param endsMs see `ShardSnapshots.close` */
  async keep(endsMs: number): Promise<void> {
    this.#isClosed = true;
    for (const follower of this.#followers) follower.close();
    await this.context.snapshots?.close(this.shards, endsMs);
  }

  /** Drops everything. */
  close(): void {
    this.#isClosed = true;
    void this.context.snapshots?.stop();
    for (const follower of this.#followers) follower.close();
    for (const partition of this.partitions) this.shards.close(partition);
  }

  /** True if all its partitions are loaded. */
  get isReady(): boolean {
    return this.partitions.every((partition) => this.shards.held.applied(partition) !== null);
  }

  /** Number of received commits that are not completely applied yet, of all its partitions. */
  get commitsBehind(): number {
    return this.partitions.reduce((sum, partition) => {
      const applied = this.shards.held.applied(partition);
      return applied === null ? sum : sum + Math.max(0, this.shards.held.shows(partition) - applied);
    }, 0);
  }

  state(): ShardState {
    return ShardState.ofCopy(this.shards, this.partitions, this.context.store.partitions.count);
  }

  async #lastCommit(partition: number): Promise<number> {
    return (await readCommittedState(this.context.store, partition)).commits;
  }

  async #load(partition: number): Promise<void> {
    // The load finds everything up to this commit, and possibly parts of later ones.
    await this.shards.open(partition, noEpoch, await this.#lastCommit(partition));
  }

  async #apply(partition: number, { number, names }: ItemCommits): Promise<void> {
    for (const { originIds, ...changed } of changedItems(names)) {
      const all = [...originIds];
      for (let at = 0; at < all.length; at += itemsPerRead) {
        const changes = await this.#read(partition, changed, all.slice(at, at + itemsPerRead));
        const shows = await this.#lastCommit(partition);
        this.shards.apply(partition, 0, changes, shows);
      }
    }
    this.shards.apply(partition, number, []);
  }

  async #read(
    partition: number,
    { index, sourceId }: Omit<ChangedItems, 'originIds'>,
    originIds: readonly string[],
  ): Promise<ItemChange[]> {
    const items = await readItems(this.context.store, partition, index, sourceId, originIds);
    await this.shards.learnFields(
      index,
      items.filter((item) => item !== null),
    );
    return originIds.map((originId, at) => ({ ...index, sourceId, originId, item: items[at] ?? null }));
  }

  #onLost(partition: number, why: unknown): void {
    this.shards.close(partition);
    if (why instanceof StoreUnavailableError) return;
    const what = why instanceof StreamGapError ? 'is behind' : 'was lost';
    this.context.onError(
      `the shard copy of partition ${partition} (group ${this.#name}) ${what}: it is loaded again`,
      why,
    );
  }
}
