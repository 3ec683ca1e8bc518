/**
 * Background jobs that people want to see: named, resumable, tried again, with progress. BullMQ keeps them; its keys
 * carry one tag of their own, so that a queue lies in one slot of a cluster.
 */
import { setMaxListeners } from 'node:events';
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { connectBlocking, type RedisClient } from '../redis/connection.ts';
import { answerOf, StoreUnavailableError, storeError } from '../redis/errors.ts';
import type { Store } from '../store.ts';

const prefix = '{millrace}:jobs';
/** A process that is gone loses its job after this, and another one takes it up. */
const lockMs = 5_000;
/** Default interval of the search for such jobs; each search is a write. */
const stalledCheckMs = 2_500;
const attemptsMax = 50;
const retryDelayFirstMs = 500;
const retryDelayMaxMs = 15_000;
const doneJobsKept = 5_000;
const doneJobsKeptSeconds = 24 * 3600;

export type JobState = 'waiting' | 'active' | 'done' | 'failed';

export interface JobStatus<Progress> {
  readonly state: JobState;
  /** As last saved; null before the first time. */
  readonly progress: Progress | null;
  /** Why the last attempt failed; null when none did. */
  readonly failure: string | null;
}

const stateOf: Readonly<Record<string, JobState>> = {
  active: 'active',
  completed: 'done',
  failed: 'failed',
};

/** Adds jobs and tells how they are. */
export class JobQueue<Task extends object, Progress extends object> {
  readonly #client: RedisClient;
  readonly #queue: Queue<Task>;

  /** @param name without a colon */
  constructor(store: Store, name: string) {
    this.#client = connectBlocking(store.address);
    this.#queue = new Queue<Task>(name, { connection: this.#client, prefix });
    this.#queue.on('error', () => {});
  }

  /**
   * Adds jobs. A job whose id is known is not added again; it is tried again if it had failed. @throws
   * StoreUnavailableError
   */
  async add(jobs: readonly { readonly id: string; readonly task: Task }[]): Promise<void> {
    try {
      await this.#queue.addBulk(
        jobs.map(({ id, task }) => ({
          name: 'job',
          data: task,
          opts: {
            jobId: id,
            attempts: attemptsMax,
            backoff: { type: 'capped' },
            removeOnComplete: { age: doneJobsKeptSeconds, count: doneJobsKept },
          },
        })) as Parameters<Queue<Task>['addBulk']>[0],
      );
      for (const { id } of jobs) {
        const job = await this.#queue.getJob(id);
        if (job !== undefined && (await job.isFailed())) await job.retry('failed');
      }
    } catch (error) {
      throw storeError(error);
    }
  }

  /** States of jobs in the order asked; null for a job that is not known, or not any more. @throws StoreUnavailableError */
  async statuses(ids: readonly string[]): Promise<(JobStatus<Progress> | null)[]> {
    return await answerOf(Promise.all(ids.map((id) => this.#status(id))));
  }

  async #status(id: string): Promise<JobStatus<Progress> | null> {
    const job = await this.#queue.getJob(id);
    if (job === undefined) return null;
    const state = stateOf[await job.getState()] ?? 'waiting';
    return { state, progress: progressOf<Progress>(job), failure: job.failedReason ?? null };
  }

  /** Number of jobs by state. @throws StoreUnavailableError */
  async counts(): Promise<Readonly<Record<JobState, number>>> {
    const counts = await answerOf(
      this.#queue.getJobCounts('wait', 'delayed', 'active', 'completed', 'failed'),
    );
    return {
      waiting: (counts.wait ?? 0) + (counts.delayed ?? 0),
      active: counts.active ?? 0,
      done: counts.completed ?? 0,
      failed: counts.failed ?? 0,
    };
  }

  async close(): Promise<void> {
    await this.#queue.close().catch(() => {});
    this.#client.disconnect();
  }
}

/** A job under way, as the function that does it sees it. */
export interface JobRun<Task, Progress> {
  readonly task: Task;
  /** As an earlier run saved it; null at the first run. */
  readonly progress: Progress | null;
  /** Saves where a later run goes on if this one is broken off. */
  save(progress: Progress): Promise<void>;
  /** Aborts when the process stops; the job is then taken up by another one at once. */
  readonly signal: AbortSignal;
}

/** Does the jobs of a queue. */
export class JobRunner<Task extends object, Progress extends object> {
  readonly #client: RedisClient;
  readonly #worker: Worker<Task>;
  readonly #stop = new AbortController();

  constructor(
    store: Store,
    name: string,
    concurrency: number,
    private readonly act: (run: JobRun<Task, Progress>) => Promise<void>,
    onTrouble: (message: string, error: unknown) => void,
    stalledInterval = stalledCheckMs,
  ) {
    // Every job under way may listen to the signal.
    setMaxListeners(0, this.#stop.signal);
    this.#client = connectBlocking(store.address);
    this.#worker = new Worker<Task>(name, (job, token) => this.#run(job, token), {
      connection: this.#client,
      prefix,
      concurrency,
      lockDuration: lockMs,
      stalledInterval,
      // A job outlives any number of its processes.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      settings: {
        backoffStrategy: (attempts) =>
          Math.min(retryDelayMaxMs, retryDelayFirstMs * 2 ** Math.min(attempts - 1, 10)),
      },
    });
    this.#worker.on('error', () => {});
    this.#worker.on('failed', (job, error) => {
      // A lost connection is reported by the watch over connections, once.
      if (!(error instanceof StoreUnavailableError))
        onTrouble(`job ${job?.id ?? ''} failed and is tried again`, error);
    });
  }

  async #run(job: Job<Task>, token: string | undefined): Promise<void> {
    try {
      await this.act({
        task: job.data,
        progress: progressOf<Progress>(job),
        save: (progress) => job.updateProgress(progress),
        signal: this.#stop.signal,
      });
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
      await job.moveToDelayed(Date.now(), token);
      throw new DelayedError();
    }
  }

  /** Breaks off the jobs under way where they can be taken up again. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#worker.close().catch(() => {});
    this.#client.disconnect();
  }
}

function progressOf<Progress extends object>(job: Job): Progress | null {
  // BullMQ's first value is the number 0.
  return typeof job.progress === 'object' ? (job.progress as Progress) : null;
}
