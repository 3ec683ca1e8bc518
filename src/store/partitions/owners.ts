/** The owners of the partitions, as every process can read them. */
import { keys } from '../keys.ts';
import { answerOf } from '../redis/errors.ts';
import type { Store } from '../store.ts';
import { storeTimeMs } from './lease.ts';

export interface PartitionOwner {
  readonly workerId: string | null;
  /** By Redis' clock. It serves only to see that it changes, and for `holds`. */
  readonly leaseUntilMs: number;
  /** False when it has no owner, or the lease has ended by Redis' clock. */
  readonly holds: boolean;
  readonly epoch: number;
  readonly checkpoint: number;
}

/** Owners of all partitions as Redis has them; a lease that has ended is still shown. @throws StoreUnavailableError */
export async function readOwners(store: Store): Promise<PartitionOwner[]> {
  const nowMs = storeTimeMs(store);
  const owners = store.partitions.tags.map((_, partition) => readOwner(store, partition, nowMs));
  return await Promise.all(owners);
}

/** The owner of one partition. @param nowMs of Redis' clock. @throws StoreUnavailableError */
export async function readOwner(
  store: Store,
  partition: number,
  nowMs: Promise<number> = storeTimeMs(store),
): Promise<PartitionOwner> {
  const [[worker, until, epoch, checkpoint], now] = await answerOf(
    Promise.all([
      store.client.hmget(
        keys.owner(store.partitions.tag(partition)),
        'worker',
        'leaseUntilMs',
        'epoch',
        'checkpoint',
      ),
      nowMs,
    ]),
  );
  const leaseUntilMs = Number(until ?? 0);
  return {
    workerId: worker ? worker : null,
    leaseUntilMs,
    holds: Boolean(worker) && leaseUntilMs > now,
    epoch: Number(epoch ?? 0),
    checkpoint: Number(checkpoint ?? 0),
  };
}
