/**
 * Renews the leases of a worker, each for itself. A shard of a cluster that does not answer must not end the leases of
 * the others. Until when they hold is in memory that all threads share.
 */
import type { RedisClient } from '../redis/redis-connection.ts';
import { type Lease, renewLease } from './lease.ts';

/** Parts of the lease time: the age of a renewal at which the next one is due, and the interval of that check. */
const renewalPart = 0.4;
const lookPart = 0.1;

export interface RenewalEvents {
  /** The lease is no longer ours. */
  lost(lease: Lease): void;
  trouble(error: unknown): void;
}

interface Kept {
  readonly lease: Lease;
  /** When the last renewal that came back was asked for. */
  askedMs: number;
  isRenewing: boolean;
}

export class LeaseRenewal {
  readonly #kept = new Map<number, Kept>();
  readonly #timer: NodeJS.Timeout;

  /**
   * @param nowMs the clock of `askedMs` and `ends`
   * @param mayRenew false while the process is as good as dead, so that its leases end
   */
  constructor(
    private readonly client: RedisClient,
    private readonly leaseMs: number,
    /** Called for every renewal. */
    private readonly ends: LeaseEnds,
    private readonly nowMs: () => number,
    private readonly mayRenew: () => boolean,
    private readonly events: RenewalEvents,
  ) {
    this.#timer = setInterval(() => this.#renewDue(), leaseMs * lookPart);
  }

  /** @param askedMs when it was taken, or asked for */
  add(lease: Lease, askedMs: number): void {
    this.#kept.set(lease.partition, { lease, askedMs, isRenewing: false });
  }

  remove(partition: number): void {
    this.#kept.delete(partition);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#kept.clear();
  }

  #renewDue(): void {
    if (!this.mayRenew()) return;
    const dueMs = this.nowMs() - this.leaseMs * renewalPart;
    for (const kept of this.#kept.values()) {
      if (!kept.isRenewing && kept.askedMs <= dueMs) void this.#renew(kept);
    }
  }

  async #renew(kept: Kept): Promise<void> {
    kept.isRenewing = true;
    const askedMs = this.nowMs();
    try {
      const isOurs = await renewLease({ client: this.client }, kept.lease, this.leaseMs);
      // The lease was given back, or taken again, meanwhile.
      if (this.#kept.get(kept.lease.partition) !== kept) return;
      kept.askedMs = askedMs;
      if (isOurs) this.ends.set(kept.lease.partition, askedMs + this.leaseMs);
      else this.events.lost(kept.lease);
    } catch (error) {
      this.events.trouble(error);
    } finally {
      kept.isRenewing = false;
    }
  }
}

/**
 * Until when the leases of a worker hold. All its threads see a change at once: one thread renews and writes, the other
 * answers and reads.
 */
export class LeaseEnds {
  readonly #endsMs: BigInt64Array;

  /** @param shared what several threads share */
  constructor(readonly shared: SharedArrayBuffer) {
    this.#endsMs = new BigInt64Array(shared);
  }

  static ofPartitions(count: number): LeaseEnds {
    return new LeaseEnds(new SharedArrayBuffer(count * BigInt64Array.BYTES_PER_ELEMENT));
  }

  /** By the clock of the worker's main thread, rounded down; 0 when there was never a lease. */
  endMs(partition: number): number {
    return Number(Atomics.load(this.#endsMs, partition));
  }

  set(partition: number, endMs: number): void {
    Atomics.store(this.#endsMs, partition, BigInt(Math.floor(endMs)));
  }
}
