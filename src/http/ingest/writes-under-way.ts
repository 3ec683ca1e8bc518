/**
 * The writes of this front that are under way: those that the workers have not taken in yet, as the stream entries of each
 * partition in their order, and those that are answered when they are visible.
 */

import { visibilityWaitsMax, visibilityWaitsOfTenantMax } from '../../contract/limits.ts';
import type { Progress } from '../../store/visibility/progress.ts';
import type { VersionVector } from '../../store/visibility/version.ts';

/** A stream entry of one tenant, written in one call. */
interface Entry {
  readonly sequence: number;
  readonly tenant: string;
  readonly writtenMs: number;
  readonly parts: Part[];
}

/** The share of a write that is in one entry. */
export interface Part {
  readonly kind: WriteKind;
  readonly work: number;
}

export type WriteKind = 'single' | 'bulk';

/**
 * Called for work that is done.
 * @param waitedMs time since the write; null when it was lost or given up, or was done before
 */
type DoneListener = (part: Part, waitedMs: number | null) => void;

export class WaitingWrites {
  readonly #partitions = new Map<number, Entry[]>();
  readonly #checkpoints = new Map<number, number>();
  /** Partition -> when its checkpoint was last seen to move. */
  readonly #movedMs = new Map<number, number>();
  /** Tenant -> partition -> entries. */
  readonly #counts = new Map<string, Map<number, number>>();

  constructor(private readonly onDone: DoneListener) {}

  /** @param version where the write is in the streams. Its work is divided evenly among them */
  note(tenant: string, version: VersionVector, { kind, work }: Part, nowMs: number): void {
    const part = { kind, work: work / Math.max(1, version.size) };
    for (const [partition, sequence] of version) this.#add(partition, sequence, tenant, part, nowMs);
  }

  /** Entries of a tenant that wait, in the partition that has most of them. */
  entriesOf(tenant: string): number {
    return Math.max(0, ...(this.#counts.get(tenant)?.values() ?? []));
  }

  /**
   * Gives up waiting for partitions in which nothing was done since a time: their worker is away. The entries are still
   * there, and count for their tenants.
   */
  giveUpUnmoved(sinceMs: number): void {
    for (const [partition, entries] of this.#partitions) {
      const [first] = entries;
      if (first === undefined) continue;
      if (Math.max(first.writtenMs, this.#movedMs.get(partition) ?? 0) < sinceMs) this.#giveUp(entries);
    }
  }

  /** Goes from the newest entry back to the first one that was given up before. */
  #giveUp(entries: readonly Entry[]): void {
    for (let at = entries.length - 1; at >= 0; at -= 1) {
      const parts = entries[at]?.parts.splice(0) ?? [];
      if (parts.length === 0) return;
      for (const part of parts) this.onDone(part, null);
    }
  }

  /** Notes that the workers took in a partition's entries up to its checkpoint. */
  passed(partition: number, checkpoint: number, nowMs: number): void {
    if (checkpoint !== this.#checkpoints.get(partition)) this.#movedMs.set(partition, nowMs);
    this.#checkpoints.set(partition, checkpoint);
    const entries = this.#partitions.get(partition) ?? [];
    const count = entries.findIndex(({ sequence }) => sequence > checkpoint);
    for (const entry of entries.splice(0, count < 0 ? entries.length : count)) {
      this.#end(partition, entry, nowMs - entry.writtenMs);
    }
  }

  /** Drops entries after the last one. A Redis that lost its last writes no longer has them. */
  forgetBeyond(partition: number, last: number): void {
    const entries = this.#partitions.get(partition) ?? [];
    const from = entries.findIndex(({ sequence }) => sequence > last);
    if (from < 0) return;
    for (const entry of entries.splice(from)) this.#end(partition, entry, null);
  }

  #add(partition: number, sequence: number, tenant: string, part: Part, nowMs: number): void {
    const entries = this.#partitions.get(partition) ?? [];
    this.#partitions.set(partition, entries);
    const last = entries.at(-1);
    // The requests of one call share an entry.
    if (sequence === last?.sequence && tenant === last.tenant) {
      last.parts.push(part);
      return;
    }
    // A write that changed nothing has the place of an earlier entry. A write that was done at once is received before
    // its answer comes.
    if (sequence <= (last?.sequence ?? this.#checkpoints.get(partition) ?? 0)) {
      this.onDone(part, null);
      return;
    }
    entries.push({ sequence, tenant, writtenMs: nowMs, parts: [part] });
    this.#count(tenant, partition, 1);
  }

  #end(partition: number, { tenant, parts }: Entry, waitedMs: number | null): void {
    this.#count(tenant, partition, -1);
    for (const part of parts) this.onDone(part, waitedMs);
  }

  #count(tenant: string, partition: number, change: 1 | -1): void {
    const counts = this.#counts.get(tenant) ?? new Map<number, number>();
    this.#counts.set(tenant, counts);
    const count = (counts.get(partition) ?? 0) + change;
    if (count > 0) counts.set(partition, count);
    else counts.delete(partition);
    if (counts.size === 0) this.#counts.delete(tenant);
  }
}

/**
 * Writes with `X-Service-Wait` that wait until they are visible on this front. When too many wait, a further one is answered
 * at once: it is accepted already.
 */
export class VisibilityWaits {
  #count = 0;
  readonly #ofTenant = new Map<string, number>();

  constructor(private readonly progress: Pick<Progress, 'waitFor'>) {}

  /** True when everything that a write caused is visible before the time is over. */
  async isVisible(tenant: string, written: VersionVector, waitMs: number): Promise<boolean> {
    const waiting = this.#ofTenant.get(tenant) ?? 0;
    const isFull = this.#count >= visibilityWaitsMax || waiting >= visibilityWaitsOfTenantMax;
    if (isFull) return await this.progress.waitFor(tenant, written, 0);
    this.#add(tenant, 1);
    try {
      return await this.progress.waitFor(tenant, written, waitMs);
    } finally {
      this.#add(tenant, -1);
    }
  }

  #add(tenant: string, change: 1 | -1): void {
    this.#count += change;
    const waiting = (this.#ofTenant.get(tenant) ?? 0) + change;
    if (waiting > 0) this.#ofTenant.set(tenant, waiting);
    else this.#ofTenant.delete(tenant);
  }
}
