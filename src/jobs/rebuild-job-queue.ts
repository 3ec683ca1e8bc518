/** The queue of rebuild jobs: one job for each partition and configuration generation. */

import {
  type JobStatus,
  PartitionJobs,
  type PartitionTask,
  sumOf,
} from '../store/configuration/jobs-queue.ts';
import { noteEnqueued, readGenerations } from '../store/configuration/rebuild-generation.ts';
import type { ScanPlace } from '../store/redis/scan.ts';
import type { Store } from '../store/store.ts';

export const rebuildQueueName = 'rebuild';

export interface RebuildTask extends PartitionTask {
  readonly generation: number;
}

/** Where a pass over a partition continues. */
export interface RebuildPlace {
  /** `<tenant>|<sourceId>`; sources come in the order of these texts. */
  readonly source: string;
  /** `records`: what was processed; `entities`: what has no record though it is there. */
  readonly scan: 'records' | 'entities';
  /** Null: at its beginning. */
  readonly at: ScanPlace | null;
}

/** Records of a tenant that were looked at, and that there were to look at. */
export type TenantCount = readonly [tenant: string, scanned: number, total: number];

export interface RebuildProgress {
  /** `fill`: entities come under the lookup layouts that the configuration requires; `rebuild`: all that is outdated. */
  readonly phase: 'fill' | 'rebuild';
  /** Number in its phase, from 1; a pass that finds nothing outdated is the last. */
  readonly pass: number;
  /** Null: at its beginning. */
  readonly place: RebuildPlace | null;
  /** Records looked at in the first passes, and records that there were to look at when the job began. */
  readonly scanned: number;
  readonly total: number;
  /** The same by tenant; absent in jobs of an earlier version. */
  readonly ofTenants?: readonly TenantCount[];
  /** Entities found outdated: in this pass, and in all. */
  readonly markedInPass: number;
  readonly marked: number;
  /** The last invalidation sent for each tenant. All of this is stored with the job, so its names stay. */
  readonly lastMarks: readonly (readonly [tenant: string, sequence: number])[];
  readonly done: boolean;
}

export type RebuildJobs = PartitionJobs<Pick<RebuildTask, 'generation'>, RebuildProgress>;

/** The queue of rebuild jobs; the caller closes it. */
export function rebuildJobs(store: Store): RebuildJobs {
  return new PartitionJobs(store, rebuildQueueName, ({ generation }) => String(generation));
}

/**
 * Adds the jobs of a generation. A crash between jobs and note adds them again, which does nothing.
 * @throws StoreUnavailableError
 */
export async function enqueueRebuild(store: Store, queue: RebuildJobs, generation: number): Promise<void> {
  await queue.addAll({ generation });
  await noteEnqueued(store, generation);
}

/** How far the rebuild for a generation is, over all partitions. */
export interface RebuildState {
  /** 0 to 100; 100 only when all is done. */
  readonly percent: number;
  /** When the first job was taken up, in ms since 1970; null before that. */
  readonly startedAtMs: number | null;
  /** Records to look at, records looked at, and entities asked to be rebuilt. */
  readonly total: number;
  readonly scanned: number;
  readonly marked: number;
  readonly isDone: boolean;
  /** False while no jobs process has seen the generation. */
  readonly isEnqueued: boolean;
  /** Reasons why jobs failed for good, and why the last attempts of others failed. */
  readonly failures: readonly {
    readonly partition: number;
    readonly reason: string;
    readonly isFinal: boolean;
  }[];
}

/** @param tenant whose records are counted; null: those of all. @throws StoreUnavailableError */
export async function rebuildState(
  store: Store,
  queue: RebuildJobs,
  generation: number,
  tenant: string | null = null,
): Promise<RebuildState> {
  const { enqueued } = await readGenerations(store);
  const statuses = await queue.statusesOf({ generation });
  const isEnqueued = enqueued >= generation;
  const percents = statuses.map((status) => percentOf(status, isEnqueued));
  const isDone = percents.every((percent) => percent === 100);
  const mean = percents.reduce((sum, percent) => sum + percent, 0) / percents.length;
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
  // Jobs that are done are forgotten after a while.
  if (status === null) return isEnqueued ? 100 : 0;
  if (status.state === 'done') return 100;
  const { progress } = status;
  if (progress === null) return 0;
  if (progress.phase === 'rebuild' && progress.pass > 1) return 99;
  return Math.min(99, (100 * progress.scanned) / Math.max(1, progress.total));
}
