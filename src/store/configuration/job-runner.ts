/** Does the jobs that others have put into a queue (`jobs-queue.ts`). */
import { setMaxListeners } from 'node:events';
import { DelayedError, type Job, Worker } from 'bullmq';
import { connectForJobs, type RedisClient } from '../redis/redis-connection.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';
import { jobsPrefix, progressOf } from './jobs-queue.ts';

/** A process that is gone loses its job after this, and another one takes it up. */
const lockMs = 5_000;
/** Default interval of the search for such jobs; each search is a write. */
const stalledCheckMs = 2_500;
/** After an error of the connection; BullMQ's default is 15 s. */
const runRetryMs = 1_000;
const retryDelayFirstMs = 500;
const retryDelayMaxMs = 15_000;

/** A job under way, as the function that does it sees it. */
export interface JobRun<Task, Progress> {
  readonly task: Task;
  /** As an earlier run saved it; null at the first run. */
  readonly progress: Progress | null;
  /** Saves where a later run continues if this one is broken off. */
  save(progress: Progress): Promise<void>;
  /** Aborts when the process stops; the job is then taken up by another one immediately. */
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
      // A lost connection is reported by the watch over connections, once.
      if (!(error instanceof StoreUnavailableError))
        onTrouble(`job ${job?.id ?? ''} failed and will be retried`, error);
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
