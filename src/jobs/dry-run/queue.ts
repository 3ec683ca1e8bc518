/** The queue of dry runs, with one job for each. */

import { randomBytes } from 'node:crypto';
import type { ConfigDocuments } from '../../config/configuration.ts';
import { JobQueue, type JobState } from '../../store/configuration/jobs-queue.ts';
import { putDryRun } from '../../store/dry-runs/dry-run.ts';
import type { Store } from '../../store/store.ts';
import type { ConfigurationDiff } from '../../trial/dry-run/diff.ts';

export const dryRunQueueName = 'dry-run';
const tokenBytes = 16;

export interface DryRunTask {
  /** Identifies its working data. */
  readonly token: string;
  /** Null for all tenants. */
  readonly tenant: string | null;
  /** Generation of the configuration to compare with. */
  readonly generation: number;
}

/** Position in the scan, which goes by partition, source, type and originId, each in string order. */
export interface OutputsPlace {
  readonly partition: number;
  /** `<tenant>|<sourceId>`. */
  readonly source: string;
  readonly type: string;
  readonly originId: string;
}

export interface ContestsPlace {
  readonly partition: number;
  readonly after: string | null;
}

export interface DryRunProgress {
  /** `outputs` scans entities; `claims` scans URLs and handles. */
  readonly phase: 'outputs' | 'claims' | 'done';
  /** Null at the beginning. */
  readonly outputs: OutputsPlace | null;
  readonly claims: ContestsPlace;
  /** Number of scanned entities, and of all. */
  readonly done: number;
  readonly total: number;
  readonly handleClaims: number;
  readonly diff: ConfigurationDiff;
  /** Error message if there is no result; otherwise null. */
  readonly failure: string | null;
}

export type DryRunJobs = JobQueue<DryRunTask, DryRunProgress>;

/** The queue of dry runs; the caller closes it. */
export function dryRunJobs(store: Store): DryRunJobs {
  return new JobQueue(store, dryRunQueueName);
}

/** Adds the job of a dry run. Its documents must already be stored. @throws StoreUnavailableError */
export async function enqueueDryRun(queue: DryRunJobs, task: DryRunTask): Promise<void> {
  await queue.add([{ id: dryRunId(task.token), task }]);
}

function dryRunId(token: string): string {
  return `${dryRunQueueName}-${token}`;
}

/** State of a dry run. */
export interface DryRunState {
  readonly state: JobState;
  readonly done: number;
  readonly total: number;
  /** Null before it is done. */
  readonly diff: ConfigurationDiff | null;
  /** Error message if there is no result; otherwise null. */
  readonly failure: string | null;
}

/**
 * Null for an unknown or expired dry run.
 * @param tenant tenant of the dry run; null for one of all tenants
 * @throws StoreUnavailableError
 */
export async function dryRunState(
  queue: DryRunJobs,
  token: string,
  tenant: string | null,
): Promise<DryRunState | null> {
  const [status = null] = await queue.statuses([dryRunId(token)]);
  if (status === null || status.task.tenant !== tenant) return null;
  const { state, progress } = status;
  const failure = progress?.failure ?? (state === 'failed' ? status.failure : null);
  return {
    state: failure === null ? state : 'failed',
    done: progress?.done ?? 0,
    total: progress?.total ?? 0,
    diff: state === 'done' && failure === null ? (progress?.diff ?? null) : null,
    failure,
  };
}

/**
 * Starts a dry run in the jobs process.
 * @param documents of the compared tenant, or of all, with hashed keys
 * @returns the token of the dry run
 * @throws StoreUnavailableError
 */
export async function beginDryRun(
  store: Store,
  documents: ConfigDocuments,
  compared: Omit<DryRunTask, 'token'>,
): Promise<string> {
  const token = randomBytes(tokenBytes).toString('hex');
  await putDryRun(store, token, documents);
  const queue = dryRunJobs(store);
  try {
    await enqueueDryRun(queue, { token, ...compared });
  } finally {
    await queue.close();
  }
  return token;
}

/** Number of waiting and running dry runs of a tenant. @throws StoreUnavailableError */
export async function pendingDryRuns(store: Store, tenant: string): Promise<number> {
  const queue = dryRunJobs(store);
  try {
    const tasks = await queue.pending();
    return tasks.filter((task) => task.tenant === tenant).length;
  } finally {
    await queue.close();
  }
}
