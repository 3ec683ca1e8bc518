/**
 * A barrier for replication in a cluster, where a failover can lose the last writes that a master acknowledged.
 *
 * Before a batch writes anything to other partitions, replicas confirm what it is based on: what it read, and its intents.
 * Before the commit, replicas confirm what it wrote to other partitions. So a failover loses at most a last commit, or
 * effects of an uncommitted batch. In both cases the batch is repeated from the checkpoint.
 */
import { setTimeout } from 'node:timers/promises';
import type { Caller, Lease } from '../../store/ownership/lease.ts';
import { FencedError, StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import type { Histories } from '../../store/redis/replication.ts';
import type { Store } from '../../store/store.ts';

/** An owner can retry longer than a request, because no client waits for it. */
const attemptsMax = 10;
const pauseMs = 100;

export class ReplicationBarrier {
  readonly #reached = new Set<string>();

  private constructor(
    private readonly store: Store,
    private readonly lease: Lease,
    /** Replication histories of all partitions when the batch began. */
    private readonly histories: Histories,
  ) {}

  /** Must be called before the batch writes anything. @throws StoreUnavailableError */
  static async open(store: Store, lease: Lease): Promise<ReplicationBarrier> {
    const { replication, partitions } = store;
    return new ReplicationBarrier(
      store,
      lease,
      await withRetries(() => replication.observe(partitions.tags)),
    );
  }

  /** The owner in whose name the batch writes to other partitions. */
  get caller(): Caller {
    const { partition, epoch, onlyIn = '' } = this.lease;
    return { partition, epoch, onlyIn, reached: this.#reached };
  }

  /** @throws FencedError if a failover may have lost writes of this partition; StoreUnavailableError */
  async confirmInside(): Promise<void> {
    const { tag, history } = this.lease;
    if (history === undefined) return;
    const isKept = await withRetries(() => this.store.replication.confirm(new Map([[tag, history]])));
    if (!isKept) throw new FencedError('a failover may have taken back what was done here');
  }

  /**
   * @returns false if effects may be lost, so the batch must be repeated
   * @throws StoreUnavailableError
   */
  confirmOutside(): Promise<boolean> {
    const reached = [...this.histories].filter(([tag]) => this.#reached.has(tag));
    return withRetries(() => this.store.replication.confirm(new Map(reached)));
  }
}

async function withRetries<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || attempt === attemptsMax) throw error;
    }
    await setTimeout(pauseMs);
  }
}
