/** Reads the owners of the partitions, and Redis' clock, which is part of each reply. */
import { assert } from '../../lib/assert.ts';
import { keys } from '../keys.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';

type OwnerFields = readonly (Buffer | null)[];

const ownersScript = new Script<[nowMs: number, ...owners: OwnerFields[]]>('partitions/owners', null);

export interface PartitionOwner {
  readonly workerId: string | null;
  /** By Redis' clock. Only used to detect changes, and for `holds`. */
  readonly leaseUntilMs: number;
  /** False if there is no owner, or the lease has ended by Redis' clock. */
  readonly holds: boolean;
  readonly epoch: number;
  readonly checkpoint: number;
  /** Redis' clock when the owner was read. */
  readonly clockMs: number;
}

/**
 * Owners of all partitions, including expired leases. A single Redis needs only one call, because workers poll twice a second.
 * @throws StoreUnavailableError
 */
export async function readOwners(store: Store): Promise<PartitionOwner[]> {
  const { tags } = store.partitions;
  if (store.address.kind === 'single') return await ownersOf(store, tags);
  return (await Promise.all(tags.map((tag) => ownersOf(store, [tag])))).flat();
}

/** The owner of one partition. @throws StoreUnavailableError */
export async function readOwner(store: Store, partition: number): Promise<PartitionOwner> {
  const [owner] = await ownersOf(store, [store.partitions.tag(partition)]);
  assert(owner !== undefined, 'each requested partition has a reply');
  return owner;
}

/** @param tags of partitions in one slot of a cluster */
async function ownersOf({ client }: Store, tags: readonly string[]): Promise<PartitionOwner[]> {
  const [nowMs, ...owners] = await ownersScript.run(client, tags.map(keys.owner), []);
  return owners.map((fields) => ownerOf(fields, nowMs));
}

function ownerOf([worker, until, epoch, checkpoint]: OwnerFields, nowMs: number): PartitionOwner {
  const workerId = String(worker ?? '');
  const leaseUntilMs = Number(until ?? 0);
  return {
    workerId: workerId === '' ? null : workerId,
    leaseUntilMs,
    holds: workerId !== '' && leaseUntilMs > nowMs,
    epoch: Number(epoch ?? 0),
    checkpoint: Number(checkpoint ?? 0),
    clockMs: nowMs,
  };
}
