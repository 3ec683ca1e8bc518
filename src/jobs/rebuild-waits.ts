/** The waits of a rebuild: until its invalidations are rebuilt, and rests that leave the machine to others. */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { rebuildsWaitingMax } from '../contract/limits.ts';
import { readCommittedState, readPartitionState, rebuiltUpTo } from '../store/partitions/partition-state.ts';
import type { Store } from '../store/store.ts';
import type { FrontLoad } from './front-load.ts';
import type { RebuildProgress } from './rebuild-queue.ts';

const pollMs = 20;
const rebuiltPollMsMin = 4;
/**
 * A rest is so many times as long as the rebuild before it. Five times leaves most of the owner's time to fresh changes, and
 * the cores to requests. The slowest hundredth of deliveries takes about 1.5 times as long meanwhile, at most twice. With
 * three times, they took longer than that. With few requests, a shorter rest lets the rebuild end sooner.
 */
const restFactors = { idle: 1, busy: 5 };
/** Fronts count as busy from so many requests a second, those of a single reader. Below, rests grow with the requests. */
const busyPerSecond = 20;
const restMaxMs = 2_000;

/** The last invalidation of each tenant. */
type Invalidations = RebuildProgress['lastMarks'];

/** All its methods throw AbortError when the job must end, and StoreUnavailableError. */
export class RebuildWaits {
  constructor(
    private readonly store: Store,
    private readonly partition: number,
    private readonly fronts: Pick<FrontLoad, 'perSecond'>,
    private readonly signal: AbortSignal,
  ) {}

  async pause(ms = pollMs): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.signal });
  }

  /**
   * Waits until the partition is nearly idle, as fresh changes must find it. @param last invalidations that must be
   * taken in before
   */
  async untilRoom(last: Invalidations): Promise<void> {
    const lastSequence = Math.max(0, ...last.map(([, sequence]) => sequence));
    for (;;) {
      const { waiting, checkpoint } = await readPartitionState(this.store, this.partition);
      if (waiting < rebuildsWaitingMax && checkpoint >= lastSequence) return;
      await this.pause();
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

  /** Waits until an invalidation is rebuilt, then rests in proportion, so that a slow or busy machine is asked for less. */
  async rest(tenant: string, sequence: number): Promise<void> {
    const startMs = performance.now();
    await this.#untilRebuiltUpTo(this.partition, tenant, sequence);
    const tookMs = performance.now() - startMs;
    await this.pause(Math.min(restMaxMs, tookMs * restFactor(await this.fronts.perSecond())));
  }

  /** Asks often at first, then more rarely: the rest that follows is in proportion to how long this took. */
  async #untilRebuiltUpTo(partition: number, tenant: string, sequence: number): Promise<void> {
    const startMs = performance.now();
    for (;;) {
      const waitedMs = performance.now() - startMs;
      await this.pause(Math.min(pollMs, Math.max(rebuiltPollMsMin, waitedMs / 4)));
      if (rebuiltUpTo(await readCommittedState(this.store, partition), tenant) >= sequence) return;
    }
  }
}

/** Length of a rest as a multiple of the rebuild before it. @param perSecond requests that the fronts answer */
export function restFactor(perSecond: number): number {
  const { idle, busy } = restFactors;
  return idle + (busy - idle) * Math.min(1, perSecond / busyPerSecond);
}
