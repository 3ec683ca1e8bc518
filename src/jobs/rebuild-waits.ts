/** The waits of a job: until the owner has room for more, and until what was asked for is done. */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { readCommittedState, readPartitionState, rebuiltUpTo } from '../store/partitions/partition-state.ts';
import type { Store } from '../store/store.ts';
import type { RebuildProgress } from './rebuild-job-queue.ts';

/** Polls are frequent at first, then as long as what was waited for suggests, up to the longest. */
const pollMsMin = 4;
const pollMsMax = 20;
/** The last invalidation of each tenant. */
type Invalidations = RebuildProgress['lastMarks'];

/** All its methods throw AbortError when the job must end, and StoreUnavailableError. */
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
   * Waits until the partition is nearly idle, as fresh changes must find it. @param last what must be taken in before
   * @param waitingMax how many rebuilds may wait in it: then its owner has the next ones when it is done with one portion
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

  /** Waits until what was invalidated is rebuilt, here and in the partitions where the rebuilds have sent invalidations. */
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

  /** Pauses between two polls of a wait, for a share of how long it has taken already. */
  async #pauseSince(startMs: number): Promise<void> {
    await this.pause(Math.min(pollMsMax, Math.max(pollMsMin, (performance.now() - startMs) / 4)));
  }
}
