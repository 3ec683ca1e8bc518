/** Who owns a partition: a lease that ends by itself, with an epoch that fences every owner before. */
import { assert } from '../../lib/assert.ts';
import { keys } from '../keys.ts';
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
   * History of the cluster's shard in which it was taken (`replication.ts`): another one may have lost what this owner
   * believes to be there. Absent with one Redis.
   */
  readonly history?: string;
  /**
   * History of the one Redis in which the lease was taken, if that Redis may forget. After a restart of it, nothing is done
   * that rests on what it reported before. Absent in a cluster, and where Redis forgets nothing.
   */
  readonly onlyIn?: string;
}

/** In whose name something is put outside its partition. */
export interface Caller extends Pick<Lease, 'partition' | 'epoch' | 'onlyIn'> {
  /** Gathers the tags under which something was put. */
  readonly reached?: Set<string>;
}

export interface TakenLease extends Lease {
  /** Last stream entry that was done. */
  readonly checkpoint: number;
  /** Number of the last commit. */
  readonly commits: number;
}

/**
 * The part of a lease that every renewal changes. Anyone who sees the same mark twice knows that there was no renewal in
 * between.
 */
export type RenewalMark = Pick<PartitionOwner, 'epoch' | 'leaseUntilMs'>;

/**
 * Takes a partition without an owner; null while another worker owns it.
 * @param unrenewed the lease as this process saw it a whole lease time ago by its own clock. It is taken if it is still
 * the same: its owner is dead then, though the lease may still hold by Redis' clock, which may have been set back
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
 * False when the lease is no longer ours, or a failover or a restart may have taken back what was done under it.
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

/** Gives a partition back, so that another worker need not wait for the lease to end. @throws StoreUnavailableError */
export async function releaseLease(store: Store, lease: Lease): Promise<void> {
  await leaseScript.run(store.client, [keys.owner(lease.tag)], ['release', lease.workerId, 0, lease.epoch]);
}

/**
 * Refuses what an older owner of the partition may still send to any other partition. A new owner calls it before
 * its first work, so that a worker that was paused cannot write after losing its lease.
 * @returns false when a newer owner has done so already, or a failover may have ended the lease. @throws StoreUnavailableError
 */
export async function fenceOlderOwners(store: Store, lease: Lease): Promise<boolean> {
  const { tags } = store.partitions;
  // A failover could take back the fences, and the lease itself.
  return await surviving(store.replication, tags, async (histories) => {
    if (histories.get(lease.tag) !== lease.history) return false;
    const replies = await Promise.all(
      tags.map((tag) => fenceScript.run(store.client, [keys.fence(tag)], [lease.partition, lease.epoch])),
    );
    return replies.every((reply) => reply === 1);
  });
}
