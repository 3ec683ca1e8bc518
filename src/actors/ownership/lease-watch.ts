/**
 * Sees dead owners by its own clock. Redis ends leases by the time of day, which can be set back; then the lease of a dead
 * worker would hold for as much longer. Every renewal changes a lease, so one that is the same at two looks a lease time
 * apart was not renewed in between.
 */

import type { RenewalMark } from '../../store/partitions/lease.ts';
import type { PartitionOwner } from '../../store/partitions/owners.ts';

interface Seen extends RenewalMark {
  readonly sinceMs: number;
}

export class LeaseWatch {
  readonly #seen = new Map<number, Seen>();

  constructor(private readonly leaseMs: number) {}

  /**
   * Takes in a look at all partitions.
   * @param beganMs when it was asked for, by a clock that only goes on
   * @param endedMs when it was answered
   * @returns partition -> lease that was not renewed for a whole lease time, though Redis says that it holds
   */
  look(
    owners: readonly PartitionOwner[],
    beganMs: number,
    endedMs: number,
  ): ReadonlyMap<number, RenewalMark> {
    const unrenewed = new Map<number, RenewalMark>();
    for (const [partition, { holds, epoch, leaseUntilMs }] of owners.entries()) {
      const seen = this.#seen.get(partition);
      if (!holds) this.#seen.delete(partition);
      else if (seen?.epoch !== epoch || seen.leaseUntilMs !== leaseUntilMs)
        this.#seen.set(partition, { epoch, leaseUntilMs, sinceMs: endedMs });
      else if (beganMs - seen.sinceMs > this.leaseMs) unrenewed.set(partition, seen);
    }
    return unrenewed;
  }
}
