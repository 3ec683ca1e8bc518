/**
 * The jobs of the simulated platform. Their work is real (`src/jobs/rebuild-job.ts`); a list replaces BullMQ's queue, which
 * keeps jobs until they are done and gives them to any jobs process, even to several at the same time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PacedPortions } from '../../../src/jobs/backpressure.ts';
import { LayoutWatch } from '../../../src/jobs/layout-change.ts';
import { OwnerSlots } from '../../../src/jobs/partition-job.ts';
import { type RebuildContext, runRebuild } from '../../../src/jobs/rebuild-job.ts';
import type { RebuildProgress, RebuildTask } from '../../../src/jobs/rebuild-job-queue.ts';
import { ActiveConfiguration } from '../../../src/store/configuration/active-configuration.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import type { Store } from '../../../src/store/store.ts';
import { loadOnce } from './site.ts';

const pollMs = 50;
const retryMs = 100;

function jobId({ generation, partition }: RebuildTask): string {
  return `${generation}-${partition}`;
}

/** Progress of the jobs of each generation. */
export class JobList {
  readonly #saved = new Map<string, RebuildProgress>();
  readonly #done = new Set<string>();

  constructor(private readonly partitions: number) {}

  /** Unfinished jobs of a generation. */
  open(generation: number): RebuildTask[] {
    const tasks = Array.from({ length: this.partitions }, (_, partition) => ({ generation, partition }));
    return tasks.filter((task) => !this.#done.has(jobId(task)));
  }

  saved(task: RebuildTask): RebuildProgress | null {
    return this.#saved.get(jobId(task)) ?? null;
  }

  save(task: RebuildTask, progress: RebuildProgress): void {
    this.#saved.set(jobId(task), progress);
  }

  finish(task: RebuildTask): void {
    this.#done.add(jobId(task));
  }
}

/** A jobs process. */
export class JobsMember {
  readonly #stop = new AbortController();
  readonly #begun = new Set<string>();

  private constructor(
    readonly host: string,
    private readonly store: Store,
    private readonly configuration: ActiveConfiguration,
    private readonly list: JobList,
    private readonly onError: (message: string, error: unknown) => void,
  ) {}

  /** @param store with its own connection to its host */
  static async start(
    host: string,
    store: Store,
    list: JobList,
    onError: (message: string, error: unknown) => void,
  ): Promise<JobsMember> {
    const configuration = new ActiveConfiguration(store, loadOnce);
    await configuration.start();
    const member = new JobsMember(host, store, configuration, list, onError);
    void member.#work();
    return member;
  }

  /** Aborts the work in progress; the next process resumes it. */
  async stop(): Promise<void> {
    this.#end();
    await this.store.close();
  }

  /** To be called after its host was cut off the network, so that its remaining work has no effect. */
  crash(): void {
    this.#end();
    this.store.client.disconnect();
    this.store.close().catch(() => {});
  }

  #end(): void {
    this.#stop.abort();
    this.configuration.close();
  }

  async #work(): Promise<void> {
    const { signal } = this.#stop;
    const { store, configuration } = this;
    const context: RebuildContext = {
      store,
      configuration,
      autoFields: new AutoFields(store),
      slots: new OwnerSlots(),
      layoutWatch: new LayoutWatch(store),
      pace: new PacedPortions(store),
      onInvalidated: () => {},
    };
    while (!signal.aborted) {
      for (const task of this.list.open(configuration.generation)) {
        if (this.#begun.has(jobId(task))) continue;
        this.#begun.add(jobId(task));
        void this.#do(context, task);
      }
      await sleep(pollMs);
    }
  }

  async #do(context: RebuildContext, task: RebuildTask): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await runRebuild(context, {
          task,
          progress: this.list.saved(task),
          signal,
          save: async (progress) => {
            if (!signal.aborted) this.list.save(task, progress);
          },
        });
        if (!signal.aborted) this.list.finish(task);
        return;
      } catch (error) {
        if (!signal.aborted) this.onError(`job ${jobId(task)} is retried`, error);
        await sleep(retryMs);
      }
    }
  }
}
