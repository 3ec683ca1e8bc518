/** The shards by which a worker answers requests. */
import type { Coverage } from '../protocol/shard-reply.ts';
import type { ShardSet } from './shard-set.ts';
import { ShardState } from './shard-state.ts';

export interface AnsweringShards {
  /**
   * The state of the shards that a request is about.
   * @param group as the request names it; absent: the partitions that the worker owns
   * @returns null when they are not here
   */
  stateFor(group: string | undefined): ShardState | null;
  /** Calls the listener when requests that wait may have their turn. */
  onProgress(listener: () => void): void;
}

/** The shards of the partitions that a worker owns. */
export class OwnedShards implements AnsweringShards {
  /** @param covered partitions that are loaded and whose lease holds, with their epochs */
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
