/** The frame of a job that goes through a partition: its progress, its slot with the owner, what it waits for. */
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

  /** Waits for the turn of the next portion. @returns how many entities it has. @throws AbortError, StoreUnavailableError */
  nextPortion(): Promise<number> {
    return this.context.pace.next(this.signal);
  }

  /** Notes progress, which is saved with the next save. */
  note(change: Partial<Progress>): void {
    this.#progress = { ...this.#progress, ...change };
  }

  /** Notes progress, and saves at least each half second. @throws AbortError, StoreUnavailableError */
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
   * Does work that only one partition of each worker does at a time. Jobs that wait for others hold no slot. @throws
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
 * Each worker rebuilds one of its partitions at a time. Two would compete for their worker, and for cores that readers
 * need. A worker that does not go on holds up only its own partitions.
 */
export class OwnerSlots {
  readonly #users = new Map<string, { readonly turns: Semaphore; count: number }>();

  /** @param owner null for partitions without an owner, which are treated as those of one worker. @returns see `Semaphore` */
  async take(owner: string | null): Promise<() => void> {
    const key = owner ?? '';
    const user = this.#users.get(key) ?? { turns: new Semaphore(1), count: 0 };
    this.#users.set(key, user);
    user.count += 1;
    const release = await user.turns.acquire();
    return () => {
      release();
      user.count -= 1;
      // Workers come and go under new names.
      if (user.count === 0) this.#users.delete(key);
    };
  }

  /** Owners with a partition that is rebuilt or waits for it. */
  get size(): number {
    return this.#users.size;
  }
}
