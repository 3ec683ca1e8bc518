/** What all jobs over a partition share: progress, the slot of the owner, and waits. */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { Semaphore } from '../lib/semaphore.ts';
import type { JobRun, PartitionTask } from '../store/configuration/jobs-queue.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import { readOwner } from '../store/ownership/owners.ts';
import { readCommittedState, readPartitionState, rebuiltUpTo } from '../store/partitions/partition-state.ts';
import type { Store } from '../store/store.ts';
import type { PacedPortions } from './backpressure.ts';
import type { RebuildProgress } from './rebuild-job-queue.ts';

const saveEveryMs = 500;

/** Shared by all jobs of a process. */
export interface JobContext {
  readonly store: Store;
  readonly autoFields: AutoFields;
  readonly slots: OwnerSlots;
  readonly pace: PacedPortions;
}

/** A job with progress, which goes at the common rate. */
export class PacedJob<Task, Progress extends object> {
  readonly signal: AbortSignal;
  readonly task: Task;
  #progress: Progress;
  #savedMs = performance.now();

  constructor(
    private readonly pace: PacedPortions,
    private readonly run: JobRun<Task, Progress>,
    beginning: Progress,
  ) {
    this.task = run.task;
    this.signal = run.signal;
    this.#progress = run.progress ?? beginning;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /**
   * Waits until the next portion may begin.
   * @returns its number of entities
   * @throws AbortError, StoreUnavailableError
   */
  nextPortion(): Promise<number> {
    return this.pace.next(this.signal);
  }

  /** Updates the progress without saving it. */
  update(change: Partial<Progress>): void {
    this.#progress = { ...this.#progress, ...change };
  }

  /** Updates the progress, and saves it if the last save is half a second ago. @throws AbortError, StoreUnavailableError */
  async reach(change: Partial<Progress>): Promise<void> {
    this.signal.throwIfAborted();
    this.update(change);
    if (performance.now() - this.#savedMs >= saveEveryMs) await this.save({});
  }

  /** @throws StoreUnavailableError */
  async save(change: Partial<Progress>): Promise<void> {
    this.update(change);
    this.#savedMs = performance.now();
    await this.run.save(this.#progress);
  }
}

export class PartitionJob<Task extends PartitionTask, Progress extends object> extends PacedJob<
  Task,
  Progress
> {
  readonly partition: number;
  readonly tag: string;
  readonly waits: RebuildWaits;

  constructor(
    private readonly context: JobContext,
    run: JobRun<Task, Progress>,
    beginning: Progress,
  ) {
    super(context.pace, run, beginning);
    this.partition = run.task.partition;
    this.tag = context.store.partitions.tag(this.partition);
    this.waits = new RebuildWaits(context.store, this.partition, run.signal);
  }

  /**
   * Does work for which each worker has one slot. Jobs that wait for other jobs must not hold a slot.
   * @throws StoreUnavailableError
   */
  async inSlot<T>(work: () => Promise<T>): Promise<T> {
    const { store, slots } = this.context;
    const { workerId } = await readOwner(store, this.partition);
    const release = await slots.take(workerId);
    try {
      return await work();
    } finally {
      release();
    }
  }
}

/**
 * One slot per worker: two partitions of a worker would compete for it, and for cores that readers need. A stuck worker only
 * blocks its own partitions.
 */
export class OwnerSlots {
  readonly #users = new Map<string, { readonly turns: Semaphore; count: number }>();

  /**
   * @param owner null for partitions without an owner, which share one slot
   * @returns see `Semaphore`
   */
  async take(owner: string | null): Promise<() => void> {
    const key = owner ?? '';
    const user = this.#users.get(key) ?? { turns: new Semaphore(1), count: 0 };
    this.#users.set(key, user);
    user.count += 1;
    const release = await user.turns.acquire();
    return () => {
      release();
      user.count -= 1;
      // Frees memory, because restarted workers have new names.
      if (user.count === 0) this.#users.delete(key);
    };
  }
}

/** The polling interval grows with the time waited, within these bounds. */
const pollMsMin = 4;
const pollMsMax = 20;
/** The last invalidation of each tenant. */
type Invalidations = RebuildProgress['lastMarks'];

/**
 * Waits until the owner has room for more, and until invalidated entities are rebuilt. All methods throw AbortError if the job
 * must end, and StoreUnavailableError.
 */
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
   * Waits until the partition is nearly idle, so that new changes do not wait long.
   * @param last invalidations that must be processed before
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
