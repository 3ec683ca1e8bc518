/** Runs the jobs of a queue (`jobs-queue.ts`). */
import { setMaxListeners } from 'node:events';
import { type Job, WaitingError, Worker } from 'bullmq';
import { connectForJobs, type RedisClient } from '../redis/redis-connection.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';
import { jobsPrefix, progressOf } from './jobs-queue.ts';

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
