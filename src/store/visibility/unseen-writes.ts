/**
 * Writes of this process that may not be visible yet, by tenant. The version of a write covers them, too. So a client that
 * writes several things and reads with the version of the last one sees them all.
 */
import type { VersionVector } from './version.ts';

export class UnseenWrites {
  readonly #byTenant = new Map<string, Map<number, number>>();

  /** @param isVisible whether an entry of a partition's stream can be seen, with everything that was rebuilt because of it */
  constructor(private readonly isVisible: (tenant: string, partition: number, sequence: number) => boolean) {}

  /** @returns the version that stands for a write and those before it */
  add(tenant: string, version: VersionVector): VersionVector {
    const unseen = this.#byTenant.get(tenant) ?? new Map<number, number>();
    this.#byTenant.set(tenant, unseen);
    for (const [partition, sequence] of unseen) {
      if (this.isVisible(tenant, partition, sequence)) unseen.delete(partition);
    }
    for (const [partition, sequence] of version) {
      unseen.set(partition, Math.max(sequence, unseen.get(partition) ?? 0));
    }
    return new Map(unseen);
  }

  /** A Redis that comes back without its last writes has forgotten entries, which would be waited for in vain. */
  forgetBeyond(partition: number, lastSequence: number): void {
    for (const unseen of this.#byTenant.values()) {
      if ((unseen.get(partition) ?? 0) > lastSequence) unseen.delete(partition);
    }
  }
}
