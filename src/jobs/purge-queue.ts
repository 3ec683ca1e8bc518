/** The queue of purge jobs: one job for each partition and purge. */
import { JobQueue } from '../store/configuration/jobs-queue.ts';
import type { Store } from '../store/store.ts';

export const purgeQueueName = 'purge';

export interface PurgeTask {
  readonly token: string;
  readonly partition: number;
}

/** What was purged so far. */
export interface PurgeCounts {
  readonly entities: number;
  readonly views: number;
  readonly items: number;
  /** URLs, handles and redirects. */
  readonly claims: number;
  /** Entries in lookup indexes. */
  readonly lookups: number;
  /** Decided types of auto-indexed fields. */
  readonly fieldTypes: number;
}

export interface PurgeProgress extends PurgeCounts {
  /** Entities that there were when the job began. */
  readonly total: number;
}

export type PurgeJobs = JobQueue<PurgeTask, PurgeProgress>;

export function purgeJobs(store: Store): PurgeJobs {
  return new JobQueue(store, purgeQueueName);
}

function jobId({ token, partition }: PurgeTask): string {
  return `purge-${token}-${partition}`;
}

function tasksOf(store: Store, token: string): PurgeTask[] {
  return store.partitions.tags.map((_, partition) => ({ token, partition }));
}

/** Adds the jobs of a purge; those that are there already stay as they are. @throws StoreUnavailableError */
export async function enqueuePurge(store: Store, queue: PurgeJobs, token: string): Promise<void> {
  await queue.add(tasksOf(store, token).map((task) => ({ id: jobId(task), task })));
}

/** How far a purge is, over all partitions. */
export interface PurgeState {
  readonly counts: PurgeCounts;
  readonly total: number;
  readonly isDone: boolean;
  /** Why a job ended for good; null while all go on. */
  readonly failure: string | null;
}

/** @throws StoreUnavailableError */
export async function purgeState(store: Store, queue: PurgeJobs, token: string): Promise<PurgeState> {
  const statuses = await queue.statuses(tasksOf(store, token).map(jobId));
  const sum = (of: (progress: PurgeProgress) => number) =>
    statuses.reduce((total, status) => total + (status?.progress ? of(status.progress) : 0), 0);
  return {
    counts: {
      entities: sum(({ entities }) => entities),
      views: sum(({ views }) => views),
      items: sum(({ items }) => items),
      claims: sum(({ claims }) => claims),
      lookups: sum(({ lookups }) => lookups),
      fieldTypes: sum(({ fieldTypes }) => fieldTypes),
    },
    total: sum(({ total }) => total),
    isDone: statuses.every((status) => status?.state === 'done'),
    failure: statuses.find((status) => status?.state === 'failed')?.failure ?? null,
  };
}
