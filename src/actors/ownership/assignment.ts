import type { RenewalMark } from '../../store/ownership/lease.ts';
import type { PartitionOwner } from '../../store/ownership/owners.ts';

/**
 * Detects dead owners with a monotonic clock. Redis expires leases by wall-clock time, which can be set back; the lease of a
 * dead worker would then last longer. Every renewal changes a lease, so a lease that is unchanged for a whole lease time was
 * not renewed.
 */
interface Seen extends RenewalMark {
  readonly sinceMs: number;
}

export class LeaseWatch {
  readonly #seen = new Map<number, Seen>();

  constructor(private readonly leaseMs: number) {}

  /**
   * Processes a read of all partitions.
   * @param startedMs when it was requested, on a monotonic clock
   * @param endedMs when it was answered
   * @returns partition -> lease that was not renewed for a whole lease time, although it is valid in Redis
   */
  observe(
    owners: readonly PartitionOwner[],
    startedMs: number,
    endedMs: number,
  ): ReadonlyMap<number, RenewalMark> {
    const unrenewed = new Map<number, RenewalMark>();
    for (const [partition, { holds, epoch, leaseUntilMs }] of owners.entries()) {
      const seen = this.#seen.get(partition);
      if (!holds) this.#seen.delete(partition);
      else if (seen?.epoch !== epoch || seen.leaseUntilMs !== leaseUntilMs)
        this.#seen.set(partition, { epoch, leaseUntilMs, sinceMs: endedMs });
      else if (startedMs - seen.sinceMs > this.leaseMs) unrenewed.set(partition, seen);
    }
    return unrenewed;
  }
}

/** Decides which partitions a worker should own: an even share, with as few moves as possible. Pure. */
export interface AssignmentView {
  readonly workerId: string;
  /** Ids of the live workers, including this one. */
  readonly liveWorkerIds: readonly string[];
  /** Owner of each partition; null without a valid lease. */
  readonly owners: readonly (string | null)[];
  /** Partitions that the worker takes first and releases last, because it has their items from a snapshot. */
  readonly preferred: ReadonlySet<number>;
  /** Takes no other partitions, because workers that have their items are starting. */
  readonly takesPreferredOnly: boolean;
}

export interface AssignmentStep {
  readonly take: readonly number[];
  readonly release: readonly number[];
}

/**
 * Every worker applies this to its own view, without a leader. A worker above its share releases partitions, and one below
 * takes free ones, so the workers converge on an even distribution even if their views differ meanwhile.
 */
export function nextStep(view: AssignmentView): AssignmentStep {
  const { workerId, liveWorkerIds, owners, preferred, takesPreferredOnly } = view;
  const ids = [...new Set([...liveWorkerIds, workerId])].sort();
  const share = shareOf(ids.indexOf(workerId), ids.length, owners.length);
  const ownedBy = (id: string | null) => {
    const partitions = owners.flatMap((owner, partition) => (owner === id ? [partition] : []));
    return partitions.sort((a, b) => Number(preferred.has(b)) - Number(preferred.has(a)));
  };
  const own = ownedBy(workerId);
  if (own.length > share) return { take: [], release: own.slice(share) };
  const free = ownedBy(null).filter((partition) => !takesPreferredOnly || preferred.has(partition));
  return { take: free.slice(0, share - own.length), release: [] };
}

function shareOf(rank: number, workers: number, partitions: number): number {
  return Math.floor(partitions / workers) + (rank < partitions % workers ? 1 : 0);
}
