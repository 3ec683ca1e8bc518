/**
 * Background jobs that users can observe: named, resumable and retried, with progress. BullMQ stores them; its keys have their
 * own tag, so that a queue is in one slot of a cluster.
 */

import { setMaxListeners } from 'node:events';
import { type Job, type Queue, WaitingError, Worker } from 'bullmq';
import { connectForJobs, disconnect, type RedisClient } from '../redis/redis-connection.ts';
import { answerOf, StoreUnavailableError } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

export const jobsPrefix = '{millrace}:jobs';
const attemptsMax = 50;
const doneJobsKept = 5_000;
const doneJobsKeptSeconds = 24 * 3600;
/** Jobs that failed in all attempts. */
const failedJobsKept = 1_000;
const failedJobsKeptSeconds = 7 * 24 * 3600;

export type JobState = 'waiting' | 'active' | 'done' | 'failed';

export interface JobStatus<Progress, Task extends object = object> {
  readonly task: Task;
  readonly state: JobState;
  /** The last saved progress; null before the first. */
  readonly progress: Progress | null;
  /** Why the last attempt failed; null if none failed. */
  readonly failure: string | null;
  /** When the job was last started, in ms since 1970; null before that. */
  readonly startedAtMs: number | null;
}

const stateOf: Readonly<Record<string, JobState>> = {
  active: 'active',
  completed: 'done',
  failed: 'failed',
};

/**
 * Adds jobs and reads their states. The command timeout of the store applies here too, because BullMQ waits for Redis
 * indefinitely.
 */
export class JobQueue<Task extends object, Progress extends object> {
  readonly #name: string;
  readonly #client: RedisClient;
  readonly #timeoutMs: number | null;
  #opened: Promise<Queue<Task>> | null = null;

  /** @param name without a colon */
  constructor(store: Store, name: string) {
    this.#name = name;
    this.#client = connectForJobs(store.address);
    this.#timeoutMs = store.commandTimeoutMs;
  }

  /** BullMQ is loaded on first use, because most processes never need it and it would be a fifth of a front's code. */
  #open(): Promise<Queue<Task>> {
    this.#opened ??= openQueue<Task>(this.#name, this.#client);
    return this.#opened;
  }

  /** Adds jobs. A job with a known id is not added again, but retried if it has failed. @throws StoreUnavailableError */
  add(jobs: readonly { readonly id: string; readonly task: Task }[]): Promise<void> {
    return this.#ask(async (queue) => {
      await queue.addBulk(
        jobs.map(({ id, task }) => ({
          name: 'job',
          data: task,
          opts: {
            jobId: id,
            attempts: attemptsMax,
            backoff: { type: 'capped' },
            removeOnComplete: { age: doneJobsKeptSeconds, count: doneJobsKept },
            removeOnFail: { age: failedJobsKeptSeconds, count: failedJobsKept },
          },
        })) as Parameters<Queue<Task>['addBulk']>[0],
      );
      for (const { id } of jobs) {
        const job = await queue.getJob(id);
        if (job !== undefined && (await job.isFailed())) await job.retry('failed');
      }
    });
  }

  /** States of jobs in the given order; null for an unknown or removed job. @throws StoreUnavailableError */
  statuses(ids: readonly string[]): Promise<(JobStatus<Progress, Task> | null)[]> {
    return this.#ask((queue) => Promise.all(ids.map((id) => this.#status(queue, id))));
  }

  async #status(queue: Queue<Task>, id: string): Promise<JobStatus<Progress, Task> | null> {
    // Read the state first. Otherwise a job that ends in between would appear as done with outdated data.
    const state = await queue.getJobState(id);
    const job = await queue.getJob(id);
    if (job === undefined) return null;
    return {
      task: job.data,
      state: stateOf[state] ?? 'waiting',
      progress: progressOf<Progress>(job),
      failure: job.failedReason ?? null,
      startedAtMs: job.processedOn ?? null,
    };
  }

  /** Tasks of the jobs that have not ended. @throws StoreUnavailableError */
  async pending(): Promise<Task[]> {
    const jobs = await this.#ask((queue) => queue.getJobs(['wait', 'delayed', 'active']));
    return jobs.map(({ data }) => data);
  }

  /** Number of jobs by state. @throws StoreUnavailableError */
  async counts(): Promise<Readonly<Record<JobState, number>>> {
    const counts = await this.#ask((queue) =>
      queue.getJobCounts('wait', 'delayed', 'active', 'completed', 'failed'),
    );
    return {
      waiting: (counts.wait ?? 0) + (counts.delayed ?? 0),
      active: counts.active ?? 0,
      done: counts.completed ?? 0,
      failed: counts.failed ?? 0,
    };
  }

  /** @throws StoreUnavailableError */
  async #ask<T>(question: (queue: Queue<Task>) => Promise<T>): Promise<T> {
    const asked = this.#open().then(question);
    return await answerOf(this.#timeoutMs === null ? asked : inTime(asked, this.#timeoutMs));
  }

  async close(): Promise<void> {
    const queue = await this.#opened;
    // BullMQ waits for an unresponsive Redis unless its connection has ended.
    disconnect(this.#client);
    await queue?.close().catch(() => {});
  }
}

/** @throws StoreUnavailableError if it takes longer; the command may still be executed */
async function inTime<T>(asked: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | null = null;
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(new StoreUnavailableError(`Redis: no answer for ${timeoutMs} ms`));
    timer = setTimeout(fail, timeoutMs);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
}

async function openQueue<Task>(name: string, connection: RedisClient): Promise<Queue<Task>> {
  const bullmq = await import('bullmq');
  const queue = new bullmq.Queue<Task>(name, { connection, prefix: jobsPrefix });
  queue.on('error', () => {});
  return queue;
}

/** Saved progress of a job; null before the first. */
function progressOf<Progress extends object>(job: Job): Progress | null {
  // BullMQ's initial value is the number 0.
  return typeof job.progress === 'object' ? (job.progress as Progress) : null;
}

export interface PartitionTask {
  readonly partition: number;
}

/** A queue with one job per partition. */
export class PartitionJobs<Run extends object, Progress extends object> extends JobQueue<
  Run & PartitionTask,
  Progress
> {
  /** @param keyOf identifies a run of the jobs of all partitions */
  constructor(
    private readonly store: Store,
    private readonly name: string,
    private readonly keyOf: (run: Run) => string,
  ) {
    super(store, name);
  }

  /** Adds the jobs of a run; existing jobs are unchanged. @throws StoreUnavailableError */
  async addAll(run: Run): Promise<void> {
    const { tags } = this.store.partitions;
    await this.add(
      tags.map((_, partition) => ({ id: this.#idOf(run, partition), task: { ...run, partition } })),
    );
  }

  /** States by partition; null for an unknown or removed job. @throws StoreUnavailableError */
  async statusesOf(run: Run): Promise<(JobStatus<Progress> | null)[]> {
    const { tags } = this.store.partitions;
    return await this.statuses(tags.map((_, partition) => this.#idOf(run, partition)));
  }

  #idOf(run: Run, partition: number): string {
    return `${this.name}-${this.keyOf(run)}-${partition}`;
  }
}

/** Sum over all partitions. */
export function sumOf<Progress>(
  statuses: readonly (JobStatus<Progress> | null)[],
  of: (progress: Progress) => number,
): number {
  return statuses.reduce((sum, status) => sum + (status?.progress ? of(status.progress) : 0), 0);
}

/** After this time, the job of a dead process is taken over by another one. */
const lockMs = 5_000;
/** Default interval of the search for such jobs; each search writes to Redis. */
const stalledCheckMs = 2_500;
/** Delay after a connection error; BullMQ's default is 15 s. */
const runRetryMs = 1_000;
const retryDelayFirstMs = 500;
const retryDelayMaxMs = 15_000;

/** A running job. */
export interface JobRun<Task, Progress> {
  readonly task: Task;
  /** The progress that an earlier run saved; null in the first run. */
  readonly progress: Progress | null;
  /** Saves the progress from which a later run continues if this one is interrupted. */
  save(progress: Progress): Promise<void>;
  /** Aborted when the process stops; another process then takes over the job immediately. */
  readonly signal: AbortSignal;
}

/** Runs the jobs of a queue. */
export class JobRunner<Task extends object, Progress extends object> {
  readonly #client: RedisClient;
  readonly #worker: Worker<Task>;
  readonly #stop = new AbortController();

  constructor(
    store: Store,
    name: string,
    concurrency: number,
    private readonly act: (run: JobRun<Task, Progress>) => Promise<void>,
    onError: (message: string, error: unknown) => void,
    stalledInterval = stalledCheckMs,
  ) {
    // Every running job may listen to the signal.
    setMaxListeners(0, this.#stop.signal);
    this.#client = connectForJobs(store.address);
    this.#worker = new Worker<Task>(name, (job, token) => this.#run(job, token), {
      connection: this.#client,
      prefix: jobsPrefix,
      concurrency,
      lockDuration: lockMs,
      stalledInterval,
      runRetryDelay: runRetryMs,
      // A job outlives any number of its processes.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      settings: {
        backoffStrategy: (attempts) =>
          Math.min(retryDelayMaxMs, retryDelayFirstMs * 2 ** Math.min(attempts - 1, 10)),
      },
    });
    this.#worker.on('error', () => {});
    this.#worker.on('failed', (job, error) => {
      // `OutageWatch` reports a lost connection, once.
      if (!(error instanceof StoreUnavailableError))
        onError(`job ${job?.id ?? ''} failed and will be retried`, error);
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
      await job.moveToWait(token);
      throw new WaitingError();
    }
  }

  /** Interrupts the running jobs, which can be resumed. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#worker.close().catch(() => {});
    this.#client.disconnect();
  }
}
