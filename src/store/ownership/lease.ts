/** Ownership of a partition: a lease that expires, with an epoch that fences all previous owners. */
import { assert } from '../../lib/assert.ts';
import { keys } from '../keys.ts';
import type { RedisClient } from '../redis/redis-connection.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { PartitionOwner } from './owners.ts';

type TakeReply = [epoch: number, checkpointOrWaitMs: number, commits?: number, history?: Buffer];

const leaseScript = new Script<number | TakeReply>('partitions/lease', 1, ['history']);

const fenceScript = new Script<number>('partitions/fence', 1);

export interface Lease {
  readonly partition: number;
  readonly tag: string;
  readonly workerId: string;
  readonly epoch: number;
  /**
   * History of the cluster shard when the lease was taken (`replication.ts`): with another history, writes of this owner may be
   * lost. Absent with a single Redis.
   */
  readonly history?: string;
  /**
   * History of the single Redis when the lease was taken, if a restart of Redis may lose data. After a restart, nothing may
   * depend on what it reported before. Absent in a cluster, and if Redis loses nothing.
   */
  readonly onlyIn?: string;
}

/** The owner on whose behalf something is written outside its partition. */
export interface Caller extends Pick<Lease, 'partition' | 'epoch' | 'onlyIn'> {
  /** Collects the tags of the partitions that were written to. */
  readonly reached?: Set<string>;
}

export interface TakenLease extends Lease {
  /** Last processed stream entry. */
  readonly checkpoint: number;
  /** Number of the last commit. */
  readonly commits: number;
}

/** The part of a lease that every renewal changes. If it is the same twice, there was no renewal in between. */
export type RenewalMark = Pick<PartitionOwner, 'epoch' | 'leaseUntilMs'>;

/**
 * Takes a partition that has no owner; null while another worker owns it.
 * @param unrenewed the lease as seen one lease time ago by this process' clock. If it is still the same, its owner is dead and
 * the partition is taken, even if the lease is still valid by Redis' clock, which may have been set back
 * @throws StoreUnavailableError
 */
export async function takeLease(
  store: Store,
  partition: number,
  workerId: string,
  leaseMs: number,
  unrenewed: RenewalMark | null = null,
): Promise<TakenLease | null> {
  const tag = store.partitions.tag(partition);
  const seen = unrenewed === null ? [] : [unrenewed.epoch, unrenewed.leaseUntilMs];
  const reply = await leaseScript.run(store.client, [keys.owner(tag)], ['take', workerId, leaseMs, ...seen]);
  if (!Array.isArray(reply)) return null;
  const [epoch, checkpoint, commits, history] = reply;
  if (epoch === 0) return null;
  assert(Number.isSafeInteger(epoch) && epoch > 0, 'epochs grow from 1');
  const lease = { partition, tag, workerId, epoch, checkpoint, commits: commits ?? 0 };
  if (store.address.kind === 'cluster') return { ...lease, history: String(history) };
  return store.mayForget ? { ...lease, onlyIn: String(history) } : lease;
}

/**
 * False if the lease is no longer ours, or if a failover or restart may have lost writes made under it.
 * @throws StoreUnavailableError
 */
export async function renewLease(
  { client }: Pick<Store, 'client'>,
  lease: Lease,
  leaseMs: number,
): Promise<boolean> {
  const reply = await leaseScript.run(
    client,
    [keys.owner(lease.tag)],
    ['renew', lease.workerId, leaseMs, lease.epoch, lease.history ?? lease.onlyIn ?? ''],
  );
  return reply === 1;
}

/** Releases a partition, so that other workers need not wait for the lease to end. @throws StoreUnavailableError */
export async function releaseLease(store: Store, lease: Lease): Promise<void> {
  await leaseScript.run(store.client, [keys.owner(lease.tag)], ['release', lease.workerId, 0, lease.epoch]);
}

/**
 * Makes all partitions refuse writes from older owners of this partition. A new owner calls it before it starts to work, so
 * that a paused worker cannot write after losing its lease.
 * @returns false if a newer owner has already fenced, or if a failover may have ended the lease
 * @throws StoreUnavailableError
 */
export async function fenceOlderOwners(store: Store, lease: Lease): Promise<boolean> {
  const { tags } = store.partitions;
  // A failover could undo the fences and the lease itself.
  return await surviving(store.replication, tags, async (histories) => {
    if (histories.get(lease.tag) !== lease.history) return false;
    const replies = await Promise.all(
      tags.map((tag) => fenceScript.run(store.client, [keys.fence(tag)], [lease.partition, lease.epoch])),
    );
    return replies.every((reply) => reply === 1);
  });
}

/** As fractions of the lease time: age of a renewal at which the next one is due, and interval of that check. */
const renewalPart = 0.4;
const lookPart = 0.1;

interface RenewalEvents {
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

/**
 * Renews each lease of a worker separately, because an unavailable shard of a cluster must not end the leases in the others. The
 * ends of the leases are in memory that all threads share.
 */
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
