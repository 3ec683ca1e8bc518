/** What all jobs over a partition share: progress, the slot of the owner, and waits. */
import { performance } from 'node:perf_hooks';
import { Semaphore } from '../lib/semaphore.ts';
import type { JobRun } from '../store/configuration/job-runner.ts';
import type { PartitionTask } from '../store/configuration/jobs-queue.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import { readOwner } from '../store/ownership/owners.ts';
import type { Store } from '../store/store.ts';
import type { PacedPortions } from './backpressure.ts';
import { RebuildWaits } from './rebuild-waits.ts';

const saveEveryMs = 500;

/** Shared by all jobs of a process. */
export interface JobContext {
  readonly store: Store;
  readonly autoFields: AutoFields;
  readonly slots: OwnerSlots;
  readonly pace: PacedPortions;
}

export class PartitionJob<Task extends PartitionTask, Progress extends object> {
  readonly partition: number;
  readonly tag: string;
  readonly waits: RebuildWaits;
  readonly signal: AbortSignal;
  readonly task: Task;
  #progress: Progress;
  #savedMs = performance.now();

  constructor(
    private readonly context: JobContext,
    private readonly run: JobRun<Task, Progress>,
    beginning: Progress,
  ) {
    const { store } = context;
    this.task = run.task;
    this.signal = run.signal;
    this.partition = run.task.partition;
    this.tag = store.partitions.tag(this.partition);
    this.waits = new RebuildWaits(store, this.partition, run.signal);
    this.#progress = run.progress ?? beginning;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** Waits until the next portion may begin. @returns its number of entities. @throws AbortError, StoreUnavailableError */
  nextPortion(): Promise<number> {
    return this.context.pace.next(this.signal);
  }

  /** Updates the progress without saving it. */
  note(change: Partial<Progress>): void {
    this.#progress = { ...this.#progress, ...change };
  }

  /** Updates the progress, and saves it if the last save is half a second ago. @throws AbortError, StoreUnavailableError */
  async reach(change: Partial<Progress>): Promise<void> {
    this.signal.throwIfAborted();
    this.note(change);
    if (performance.now() - this.#savedMs >= saveEveryMs) await this.save({});
  }

  /** @throws StoreUnavailableError */
  async save(change: Partial<Progress>): Promise<void> {
    this.note(change);
    this.#savedMs = performance.now();
    await this.run.save(this.#progress);
  }

  /**
   * Does work for which each worker has one slot. Jobs that wait for other jobs must not hold a slot. @throws
   * StoreUnavailableError
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

  /** @param owner null for partitions without an owner, which share one slot. @returns see `Semaphore` */
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

  /** Number of owners whose slot is in use. */
  get size(): number {
    return this.#users.size;
  }
}
