/**
 * The writes of this front in progress: those that the workers have not processed yet, as ordered stream entries per partition,
 * and those whose response waits until they are visible.
 */

import { visibilityWaitsMax, visibilityWaitsOfTenantMax } from '../../contract/limits.ts';
import type { Progress } from '../../store/visibility/progress.ts';
import type { VersionVector } from '../../store/visibility/version.ts';

/** A stream entry of one tenant, written by one call of the script. */
interface Entry {
  readonly sequence: number;
  readonly tenant: string;
  readonly writtenMs: number;
  readonly parts: Part[];
}

/** The part of a write that is in one entry. */
export interface Part {
  readonly kind: WriteKind;
  readonly work: number;
}

export type WriteKind = 'single' | 'bulk';

/**
 * Called when work is done.
 * @param waitedMs time since the write; null if it was lost, given up, or done before it was added
 */
type DoneListener = (part: Part, waitedMs: number | null) => void;

export class WaitingWrites {
  readonly #partitions = new Map<number, Entry[]>();
  readonly #checkpoints = new Map<number, number>();
  /** Partition -> when its checkpoint last moved. */
  readonly #movedMs = new Map<number, number>();
  /** Tenant -> partition -> number of entries. */
  readonly #counts = new Map<string, Map<number, number>>();

  constructor(private readonly onDone: DoneListener) {}

  /** @param version positions of the write in the streams. Its work is divided evenly among them */
  add(tenant: string, version: VersionVector, { kind, work }: Part, nowMs: number): void {
    const part = { kind, work: work / Math.max(1, version.size) };
    for (const [partition, sequence] of version) this.#add(partition, sequence, tenant, part, nowMs);
  }

  /** Number of waiting entries of a tenant in the partition that has most of them. */
  entriesOf(tenant: string): number {
    return Math.max(0, ...(this.#counts.get(tenant)?.values() ?? []));
  }

  /**
   * Stops counting the work of partitions in which nothing was done since a time, because their worker is away. Their entries
   * remain, and still count for their tenants.
   */
  giveUpUnmoved(sinceMs: number): void {
    for (const [partition, entries] of this.#partitions) {
      const [first] = entries;
      if (first === undefined) continue;
      if (Math.max(first.writtenMs, this.#movedMs.get(partition) ?? 0) < sinceMs) this.#giveUp(entries);
    }
  }

  /** Goes back from the newest entry to the first one that was already given up. */
  #giveUp(entries: readonly Entry[]): void {
    for (let at = entries.length - 1; at >= 0; at -= 1) {
      const parts = entries[at]?.parts.splice(0) ?? [];
      if (parts.length === 0) return;
      for (const part of parts) this.onDone(part, null);
    }
  }

  /** Must be called when a worker has processed the entries of a partition up to a checkpoint. */
  passed(partition: number, checkpoint: number, nowMs: number): void {
    if (checkpoint !== this.#checkpoints.get(partition)) this.#movedMs.set(partition, nowMs);
    this.#checkpoints.set(partition, checkpoint);
    const entries = this.#partitions.get(partition) ?? [];
    const count = entries.findIndex(({ sequence }) => sequence > checkpoint);
    for (const entry of entries.splice(0, count < 0 ? entries.length : count)) {
      this.#end(partition, entry, nowMs - entry.writtenMs);
    }
  }

  /** Drops entries after the last one of the stream: Redis has lost its latest writes. */
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
    // Requests that share a call of the script share an entry.
    if (sequence === last?.sequence && tenant === last.tenant) {
      last.parts.push(part);
      return;
    }
    // A write that changed nothing has the position of an earlier entry. And the checkpoint can arrive before the reply to the
    // write.
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
 * Writes with `X-Service-Wait` that wait until they are visible on this front. If too many wait, further ones do not wait: they
 * are already accepted.
 */
export class VisibilityWaits {
  #count = 0;
  readonly #ofTenant = new Map<string, number>();

  constructor(private readonly progress: Pick<Progress, 'waitFor'>) {}

  /** True if everything that a write caused is visible within `waitMs`. */
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
