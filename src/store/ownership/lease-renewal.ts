/**
 * Renews each lease of a worker separately, because an unavailable shard of a cluster must not end the leases in the others.
 * The ends of the leases are in memory that all threads share.
 */
import type { RedisClient } from '../redis/redis-connection.ts';
import { type Lease, renewLease } from './lease.ts';

/** As fractions of the lease time: age of a renewal at which the next one is due, and interval of that check. */
const renewalPart = 0.4;
const lookPart = 0.1;

export interface RenewalEvents {
  /** The lease is no longer ours. */
  lost(lease: Lease): void;
  error(error: unknown): void;
}

interface Kept {
  readonly lease: Lease;
  /** When the last successful renewal was requested. */
  requestedMs: number;
  isRenewing: boolean;
}

export class LeaseRenewal {
  readonly #kept = new Map<number, Kept>();
  readonly #timer: NodeJS.Timeout;

  /**
   * @param nowMs the clock for `requestedMs` and `ends`
   * @param mayRenew false while the process counts as dead, so that its leases end
   */
  constructor(
    private readonly client: RedisClient,
    private readonly leaseMs: number,
    /** Updated on every renewal. */
    private readonly ends: LeaseEnds,
    private readonly nowMs: () => number,
    private readonly mayRenew: () => boolean,
    private readonly events: RenewalEvents,
  ) {
    this.#timer = setInterval(() => this.#renewDue(), leaseMs * lookPart);
  }

  /** @param requestedMs when the lease was requested */
  add(lease: Lease, requestedMs: number): void {
    this.#kept.set(lease.partition, { lease, requestedMs, isRenewing: false });
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
      if (!kept.isRenewing && kept.requestedMs <= dueMs) void this.#renew(kept);
    }
  }

  async #renew(kept: Kept): Promise<void> {
    kept.isRenewing = true;
    const requestedMs = this.nowMs();
    try {
      const isOurs = await renewLease({ client: this.client }, kept.lease, this.leaseMs);
      // Meanwhile the lease was released or taken again.
      if (this.#kept.get(kept.lease.partition) !== kept) return;
      kept.requestedMs = requestedMs;
      if (isOurs) this.ends.set(kept.lease.partition, requestedMs + this.leaseMs);
      else this.events.lost(kept.lease);
    } catch (error) {
      this.events.error(error);
    } finally {
      kept.isRenewing = false;
    }
  }
}

/**
 * When the leases of a worker end. Changes are visible to all its threads immediately: one thread renews and writes, the other
 * serves reads.
 */
export class LeaseEnds {
  readonly #endsMs: BigInt64Array;

  /** @param shared memory shared by several threads */
  constructor(readonly shared: SharedArrayBuffer) {
    this.#endsMs = new BigInt64Array(shared);
  }

  static ofPartitions(count: number): LeaseEnds {
    return new LeaseEnds(new SharedArrayBuffer(count * BigInt64Array.BYTES_PER_ELEMENT));
  }

  /** By the clock of the worker's main thread, rounded down; 0 if there was never a lease. */
  endMs(partition: number): number {
    return Number(Atomics.load(this.#endsMs, partition));
  }

  set(partition: number, endMs: number): void {
    Atomics.store(this.#endsMs, partition, BigInt(Math.floor(endMs)));
  }
}
