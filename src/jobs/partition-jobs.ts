/** A queue of jobs of which there is one for each partition. */
import { JobQueue, type JobStatus } from '../store/configuration/jobs-queue.ts';
import type { Store } from '../store/store.ts';

export interface PartitionTask {
  readonly partition: number;
}

export class PartitionJobs<Run extends object, Progress extends object> extends JobQueue<
  Run & PartitionTask,
  Progress
> {
  /** @param keyOf tells one run of the jobs of all partitions from the others */
  constructor(
    private readonly store: Store,
    private readonly name: string,
    private readonly keyOf: (run: Run) => string,
  ) {
    super(store, name);
  }

  /** Adds the jobs of a run; those that are there already stay as they are. @throws StoreUnavailableError */
  async addAll(run: Run): Promise<void> {
    const { tags } = this.store.partitions;
    await this.add(
      tags.map((_, partition) => ({ id: this.#idOf(run, partition), task: { ...run, partition } })),
    );
  }

  /** States by partition; null for a job that is not known, or not any more. @throws StoreUnavailableError */
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
