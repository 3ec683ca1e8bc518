/** The queue of rebuild jobs, with one job for each partition and configuration generation. */

import { sum } from '../lib/lists.ts';
import {
  type JobStatus,
  PartitionJobs,
  type PartitionTask,
  sumOf,
} from '../store/configuration/jobs-queue.ts';
import { readGenerations, recordEnqueued } from '../store/configuration/published-configuration.ts';
import type { ScanPlace } from '../store/redis/scan.ts';
import type { Store } from '../store/store.ts';

export const rebuildQueueName = 'rebuild';

export interface RebuildTask extends PartitionTask {
  readonly generation: number;
}

/** Where a pass over a partition continues. */
export interface RebuildPlace {
  /** `<tenant>|<sourceId>`; sources are scanned in the order of these strings. */
  readonly source: string;
  /** `records` scans processed records; `entities` finds entities without one. */
  readonly scan: 'records' | 'entities';
  /** Null at the beginning. */
  readonly at: ScanPlace | null;
}

/** Number of scanned records of a tenant, and of all when the job began. */
export type TenantCount = readonly [tenant: string, scanned: number, total: number];

export interface RebuildProgress {
  /** `fill` indexes entities under the lookup layouts that the configuration requires; `rebuild` rebuilds outdated ones. */
  readonly phase: 'fill' | 'rebuild';
  /** Number of the pass in its phase, from 1. A pass that finds nothing outdated is the last. */
  readonly pass: number;
  /** Null at the beginning. */
  readonly place: RebuildPlace | null;
  /** Number of records scanned in first passes, and of all when the job began. */
  readonly scanned: number;
  readonly total: number;
  /** The same counts by tenant; absent in jobs of an earlier version. */
  readonly ofTenants?: readonly TenantCount[];
  /** Number of entities found outdated, in this pass and in total. */
  readonly markedInPass: number;
  readonly marked: number;
  /** The last invalidation sent for each tenant. These names are stored with the job, so they cannot change. */
  readonly lastMarks: readonly (readonly [tenant: string, sequence: number])[];
  /** The job ended early, because a newer configuration has its own jobs; absent in jobs of an earlier version. */
  readonly isSuperseded?: boolean;
}

export type RebuildJobs = PartitionJobs<Pick<RebuildTask, 'generation'>, RebuildProgress>;

/** The queue of rebuild jobs; the caller closes it. */
export function rebuildJobs(store: Store): RebuildJobs {
  return new PartitionJobs(store, rebuildQueueName, ({ generation }) => String(generation));
}

/**
 * Adds the jobs of a generation. Adding them again after a crash has no effect.
 * @throws StoreUnavailableError
 */
export async function enqueueRebuild(store: Store, queue: RebuildJobs, generation: number): Promise<void> {
  await queue.addAll({ generation });
  await recordEnqueued(store, generation);
}

/** State of the rebuild for a generation, over all partitions. */
export interface RebuildState {
  /** 0 to 100; 100 only when everything is done. */
  readonly percent: number;
  /** When the first job began, in ms since 1970; null before that. */
  readonly startedAtMs: number | null;
  /** Number of records to scan, of scanned records, and of invalidated entities. */
  readonly total: number;
  readonly scanned: number;
  readonly marked: number;
  readonly isDone: boolean;
  /** False while no jobs process has seen the generation. */
  readonly isEnqueued: boolean;
  /** Errors of jobs that failed finally, and of the last attempts of others. */
  readonly failures: readonly {
    readonly partition: number;
    readonly reason: string;
    readonly isFinal: boolean;
  }[];
}

/**
 * State of the rebuild for a generation. If a newer configuration has superseded it, the rebuild for that one does its work, so
 * the state is that of the newer rebuild.
 * @param tenant tenant whose records are counted; null for all tenants
 * @throws StoreUnavailableError
 */
export async function rebuildState(
  store: Store,
  queue: RebuildJobs,
  generation: number,
  tenant: string | null = null,
): Promise<RebuildState> {
  // Read this before the jobs, because missing ones count as removed, and the active generation after them.
  const { enqueued } = await readGenerations(store);
  const statuses = await queue.statusesOf({ generation });
  const { active } = await readGenerations(store);
  if (active > generation && !statuses.every(isComplete)) {
    return await rebuildState(store, queue, active, tenant);
  }
  const isEnqueued = enqueued >= generation;
  const percents = statuses.map((status) => percentOf(status, isEnqueued));
  const isDone = percents.every((percent) => percent === 100);
  const mean = sum(percents) / percents.length;
  return {
    percent: isDone ? 100 : Math.min(99, Math.floor(mean)),
    startedAtMs: earliest(statuses),
    total: sumOf(statuses, (progress) => countsOf(progress, tenant).total),
    scanned: sumOf(statuses, (progress) => countsOf(progress, tenant).scanned),
    marked: sumOf(statuses, ({ marked }) => marked),
    isDone,
    isEnqueued,
    failures: statuses.flatMap((status, partition) =>
      status === null || status.failure === null || status.state === 'done'
        ? []
        : [{ partition, reason: status.failure, isFinal: status.state === 'failed' }],
    ),
  };
}

function isComplete(status: JobStatus<RebuildProgress> | null): boolean {
  return status?.state === 'done' && status.progress?.isSuperseded !== true;
}

function countsOf(
  progress: RebuildProgress,
  tenant: string | null,
): Pick<RebuildProgress, 'scanned' | 'total'> {
  if (tenant === null) return progress;
  const [, scanned, total] = progress.ofTenants?.find(([alias]) => alias === tenant) ?? [tenant, 0, 0];
  return { scanned, total };
}

function earliest(statuses: readonly (JobStatus<RebuildProgress> | null)[]): number | null {
  const times = statuses.flatMap((status) => status?.startedAtMs ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

function percentOf(status: JobStatus<RebuildProgress> | null, isEnqueued: boolean): number {
  // Completed jobs are removed after some time.
  if (status === null) return isEnqueued ? 100 : 0;
  if (status.state === 'done') return 100;
  const { progress } = status;
  if (progress === null) return 0;
  if (progress.phase === 'rebuild' && progress.pass > 1) return 99;
  return Math.min(99, (100 * progress.scanned) / Math.max(1, progress.total));
}
