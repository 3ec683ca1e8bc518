import { itemIndexField, type ScopedIndex } from '../../store/derived/items.ts';
import type { Coverage, ShardSnapshot } from '../protocol/shard-reply.ts';
import type { ShardRequest } from '../protocol/shard-request.ts';
import type { LiveShard } from './live-shard.ts';
import type { ShardSet } from './shard-set.ts';

/** The state of a worker's shards, and which requests they can answer. It is valid only until anything else happens. */
export class ShardState {
  readonly snapshot: ShardSnapshot;
  /** The worker has all partitions. */
  readonly isWhole: boolean;
  readonly #isSettled: boolean;

  /** @param covers partitions that are loaded and whose lease holds, with their epochs */
  constructor(
    private readonly shards: ShardSet,
    covers: Coverage,
    partitionCount: number,
  ) {
    const applied = new Map<number, number>();
    for (const partition of covers.keys()) applied.set(partition, shards.applied(partition) ?? 0);
    this.snapshot = { covers, applied, configuration: shards.followed };
    this.isWhole = covers.size === partitionCount;
    this.#isSettled = isSettled(shards, covers);
  }

  /** The shard of an index; null when no item of it is here. */
  readonly shardOf = (index: ScopedIndex): LiveShard | null => this.shards.live(itemIndexField(index));

  canAnswer({ needs, queries }: ShardRequest): boolean {
    return (
      this.#isSettled &&
      this.#hasApplied(needs) &&
      queries.every((query) => this.shardOf(query)?.isCurrent !== false)
    );
  }

  /** True when every partition of this worker has applied the commits that the front has heard of. */
  #hasApplied(needs: readonly number[]): boolean {
    for (const [partition, applied] of this.snapshot.applied) {
      if (applied < (needs[partition] ?? 0)) return false;
    }
    return true;
  }
}

/** False while a shard has rows of a partition that is still loading or no longer ours. These rows cannot be told apart. */
function isSettled({ held }: ShardSet, covers: Coverage): boolean {
  if (held.size !== covers.size) return false;
  for (const [partition, { epoch }] of held) if (covers.get(partition) !== epoch) return false;
  return true;
}
