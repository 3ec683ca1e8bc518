/**
 * A barrier for replication in a cluster, where a failover can take back the last of what a master answered.
 *
 * Before a batch puts anything outside its partition, replicas confirm what it rests on inside: what it read, and its
 * intents. Before the commit, replicas confirm what it put outside. So a failover takes back at most a last commit, or
 * effects of a batch without a commit. In both cases the batch is done again from the checkpoint.
 */
import { setTimeout } from 'node:timers/promises';
import type { Caller, Lease } from '../../store/ownership/lease.ts';
import { FencedError, StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import type { Histories } from '../../store/redis/replication.ts';
import type { Store } from '../../store/store.ts';

/** An owner may wait longer than a request, because no client waits for it. */
const attemptsMax = 10;
const pauseMs = 100;

export class ReplicationBarrier {
  readonly #reached = new Set<string>();

  private constructor(
    private readonly store: Store,
    private readonly lease: Lease,
    /** Histories of all partitions at the beginning. */
    private readonly histories: Histories,
  ) {}

  /** To be called before the batch puts anything anywhere. @throws StoreUnavailableError */
  static async open(store: Store, lease: Lease): Promise<ReplicationBarrier> {
    const { replication, partitions } = store;
    return new ReplicationBarrier(store, lease, await patiently(() => replication.observe(partitions.tags)));
  }

  /** In whose name effects are put outside. */
  get caller(): Caller {
    const { partition, epoch, onlyIn = '' } = this.lease;
    return { partition, epoch, onlyIn, reached: this.#reached };
  }

  /** @throws FencedError when a failover may have taken back what this owner believes; StoreUnavailableError */
  async confirmInside(): Promise<void> {
    const { tag, history } = this.lease;
    if (history === undefined) return;
    const isKept = await patiently(() => this.store.replication.confirm(new Map([[tag, history]])));
    if (!isKept) throw new FencedError('a failover may have taken back what was done here');
  }

  /** @returns false when effects may be lost, so that the batch must be done again. @throws StoreUnavailableError */
  confirmOutside(): Promise<boolean> {
    const reached = [...this.histories].filter(([tag]) => this.#reached.has(tag));
    return patiently(() => this.store.replication.confirm(new Map(reached)));
  }
}

async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || attempt === attemptsMax) throw error;
    }
    await setTimeout(pauseMs);
  }
}
