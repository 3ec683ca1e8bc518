import type { Coverage } from '../protocol/shard-reply.ts';

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

export interface PartitionLoad {
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
