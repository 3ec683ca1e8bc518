import { itemIndexField, type ScopedIndex } from '../../store/derived/items.ts';
import type { Coverage, HeldState } from '../protocol/shard-reply.ts';
import type { ShardQuery, ShardRequest } from '../protocol/shard-request.ts';
import type { LiveShard } from './live-shard.ts';
import type { ShardSet } from './shard-set.ts';

/** The state of shards, and which requests they can answer. It is valid only within the current turn of the event loop. */
export class ShardState {
  readonly held: HeldState;
  /** True if the shards have all partitions. */
  readonly hasAllPartitions: boolean;

  /**
   * @param applied partition -> number of the last commit that the shards have completely
   * @param shows partition -> number of the last commit that they can show at least in part
   * @param isSettled no shard has rows of a partition that is not covered, which could not be distinguished
   */
  private constructor(
    private readonly shards: ShardSet,
    covers: Coverage,
    private readonly applied: ReadonlyMap<number, number>,
    shows: ReadonlyMap<number, number>,
    private readonly isSettled: boolean,
    partitionCount: number,
  ) {
    this.held = { covers, applied: shows, configuration: shards.followed };
    this.hasAllPartitions = covers.size === partitionCount;
  }

  /**
   * State for the partitions that a worker owns.
   * @param covers those that are loaded and have a valid lease, with their epochs
   */
  static ofOwned(shards: ShardSet, covers: Coverage, partitionCount: number): ShardState {
    const applied = new Map<number, number>();
    for (const partition of covers.keys()) applied.set(partition, shards.held.applied(partition) ?? 0);
    // False while a partition is loading or no longer owned.
    const isSettled = !shards.isKept && shards.held.areExactly(covers);
    return new ShardState(shards, covers, applied, applied, isSettled, partitionCount);
  }

  /** State for copies of partitions. */
  static ofCopy(shards: ShardSet, partitions: readonly number[], partitionCount: number): ShardState {
    const covers = new Map<number, number>();
    const applied = new Map<number, number>();
    const shows = new Map<number, number>();
    for (const partition of partitions) {
      const [whole, part] = [shards.held.applied(partition), shards.held.shows(partition)];
      if (whole !== null) applied.set(partition, whole);
      shows.set(partition, part);
      covers.set(partition, whole === part ? 1 : 0);
    }
    return new ShardState(shards, covers, applied, shows, applied.size === covers.size, partitionCount);
  }

  /** The shard of an index; null if there are no items of it here. */
  readonly shardOf = (index: ScopedIndex): LiveShard | null => this.shards.live(itemIndexField(index));

  canAnswer({ needs, queries }: ShardRequest): boolean {
    return this.isSettled && this.#hasApplied(needs) && queries.every((query) => this.#isCurrent(query));
  }

  #isCurrent(query: ShardQuery): boolean {
    const live = this.shardOf(query);
    if (live === null) return true;
    if (live.decisions < (query.decisions ?? 0)) {
      this.shards.learnTypes(query);
      return false;
    }
    return live.canAnswer;
  }

  /** True if every partition here has applied the commits that the front has received. */
  #hasApplied(needs: readonly number[]): boolean {
    for (const [partition, applied] of this.applied) {
      if (applied < (needs[partition] ?? 0)) return false;
    }
    return true;
  }
}

/** The shards that answer the requests of a worker. */
export interface AnsweringShards {
  /**
   * The state of the shards for a request.
   * @param group from the request; absent for the partitions that the worker owns
   * @returns null if they are not here
   */
  stateFor(group: string | undefined): ShardState | null;
  /** Adds a listener that is called when waiting requests may have become answerable. */
  onProgress(listener: () => void): void;
}

/** The shards of the partitions that a worker owns. */
export class OwnedShards implements AnsweringShards {
  /** @param covered partitions that are loaded and have a valid lease, with their epochs */
  constructor(
    private readonly shards: ShardSet,
    private readonly covered: () => Coverage,
    private readonly partitionCount: number,
  ) {}

  stateFor(group: string | undefined): ShardState | null {
    return group === undefined ? ShardState.ofOwned(this.shards, this.covered(), this.partitionCount) : null;
  }

  onProgress(listener: () => void): void {
    this.shards.onProgress(listener);
  }
}
