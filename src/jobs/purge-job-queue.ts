/** The queue of purge jobs, with one job for each partition and purge. */
import { PartitionJobs, type PartitionTask, sumOf } from '../store/configuration/jobs-queue.ts';
import type { Store } from '../store/store.ts';

export const purgeQueueName = 'purge';

export interface PurgeTask extends PartitionTask {
  readonly token: string;
}

/** Numbers of removed objects. */
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
  /** Number of entities when the job began. */
  readonly total: number;
}

export type PurgeJobs = PartitionJobs<Pick<PurgeTask, 'token'>, PurgeProgress>;

/** The queue of purge jobs; the caller closes it. */
export function purgeJobs(store: Store): PurgeJobs {
  return new PartitionJobs(store, purgeQueueName, ({ token }) => token);
}

/** State of a purge, over all partitions. */
export interface PurgeState {
  readonly counts: PurgeCounts;
  readonly total: number;
  readonly isDone: boolean;
  /** Error of a job that failed finally; null if none has. */
  readonly failure: string | null;
}

/** @throws StoreUnavailableError */
export async function purgeState(queue: PurgeJobs, token: string): Promise<PurgeState> {
  const statuses = await queue.statusesOf({ token });
  return {
    counts: {
      entities: sumOf(statuses, ({ entities }) => entities),
      views: sumOf(statuses, ({ views }) => views),
      items: sumOf(statuses, ({ items }) => items),
      claims: sumOf(statuses, ({ claims }) => claims),
      lookups: sumOf(statuses, ({ lookups }) => lookups),
      fieldTypes: sumOf(statuses, ({ fieldTypes }) => fieldTypes),
    },
    total: sumOf(statuses, ({ total }) => total),
    isDone: statuses.every((status) => status?.state === 'done'),
    failure: statuses.find((status) => status?.state === 'failed')?.failure ?? null,
  };
}
