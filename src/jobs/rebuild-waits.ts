/** Waits of a job: until the owner has room for more, and until invalidated entities are rebuilt. */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { readCommittedState, readPartitionState, rebuiltUpTo } from '../store/partitions/partition-state.ts';
import type { Store } from '../store/store.ts';
import type { RebuildProgress } from './rebuild-job-queue.ts';

/** The polling interval grows with the time waited, within these bounds. */
const pollMsMin = 4;
const pollMsMax = 20;
/** The last invalidation of each tenant. */
type Invalidations = RebuildProgress['lastMarks'];

/** All methods throw AbortError if the job must end, and StoreUnavailableError. */
export class RebuildWaits {
  constructor(
    private readonly store: Store,
    private readonly partition: number,
    private readonly signal: AbortSignal,
  ) {}

  async pause(ms = pollMsMax): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.signal });
  }

  /**
   * Waits until the partition is nearly idle, so that new changes do not wait long. @param last invalidations that must be
   * processed before
   * @param waitingMax number of rebuilds that may wait in it, so that its owner never runs out of work
   */
  async untilRoom(last: Invalidations, waitingMax: number): Promise<void> {
    const lastSequence = Math.max(0, ...last.map(([, sequence]) => sequence));
    const startMs = performance.now();
    for (;;) {
      const { waiting, checkpoint } = await readPartitionState(this.store, this.partition);
      if (waiting <= waitingMax && checkpoint >= lastSequence) return;
      await this.#pauseSince(startMs);
    }
  }

  async untilCheckpoint(sequence: number): Promise<void> {
    while ((await readCommittedState(this.store, this.partition)).checkpoint < sequence) await this.pause();
  }

  /** Waits until invalidated entities are rebuilt, here and in partitions to which the rebuilds have sent invalidations. */
  async untilRebuilt(last: Invalidations): Promise<void> {
    for (const [tenant, sequence] of last) await this.#untilRebuiltUpTo(this.partition, tenant, sequence);
    const { downstream } = await readPartitionState(this.store, this.partition);
    const tenants = new Set(last.map(([tenant]) => tenant));
    for (const { tenant, partition, sequence } of downstream) {
      if (tenants.has(tenant)) await this.#untilRebuiltUpTo(partition, tenant, sequence);
    }
  }

  async #untilRebuiltUpTo(partition: number, tenant: string, sequence: number): Promise<void> {
    const startMs = performance.now();
    for (;;) {
      await this.#pauseSince(startMs);
      if (rebuiltUpTo(await readCommittedState(this.store, partition), tenant) >= sequence) return;
    }
  }

  /** Pauses between two polls, for a share of the time waited so far. */
  async #pauseSince(startMs: number): Promise<void> {
    await this.pause(Math.min(pollMsMax, Math.max(pollMsMin, (performance.now() - startMs) / 4)));
  }
}
