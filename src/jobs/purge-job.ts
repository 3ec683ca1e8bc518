/**
 * The purge of one partition: deletes the entities of sources that are no longer configured, as a client would, at the rate of
 * a rebuild, and the owner removes their outputs. The job that finishes last deletes the change logs of removed environments,
 * and ends the purge. A job that runs twice or is interrupted continues with what is left.
 */
import { performance } from 'node:perf_hooks';
import { sum } from '../lib/lists.ts';
import { forgetLogs } from '../store/change-log/trim.ts';
import { forgetNames } from '../store/codec/name-lists.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import { type JobRun, PartitionJobs, type PartitionTask, sumOf } from '../store/configuration/jobs-queue.ts';
import { endPurge, type Purge, readPurge, recordPurged } from '../store/configuration/purge-state.ts';
import { readProcessed } from '../store/derived/processed.ts';
import { forgetTypes } from '../store/entities/directory.ts';
import { countEntities, removeEntities, scanOriginIds } from '../store/entities/entities.ts';
import { forgetSchedule } from '../store/entities/entity-schedule.ts';
import { lastSequence } from '../store/partitions/partition-state.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { SourceRef } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';
import { portionMax } from './backpressure.ts';
import { type JobContext, PartitionJob } from './partition-job.ts';

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

const beginning: PurgeProgress = {
  entities: 0,
  views: 0,
  items: 0,
  claims: 0,
  lookups: 0,
  fieldTypes: 0,
  total: 0,
};

export interface PurgeContext extends JobContext {
  readonly configuration: ActiveConfiguration;
}

/** Less than another process waits before it takes over a job (`store/configuration/job-runner.ts`). */
const deletionMs = 2_000;

/** Runs a job, or continues an interrupted one. @throws AbortError, StoreUnavailableError */
export async function runPurge(context: PurgeContext, run: JobRun<PurgeTask, PurgeProgress>): Promise<void> {
  const purge = await readPurge(context.store);
  // The purge has already ended.
  if (purge?.token !== run.task.token) return;
  const job = new PartitionJob(context, run, beginning);
  try {
    await new PurgeRun(context, job, purge).run(run.progress === null);
  } catch (error) {
    // Another process has taken over the job.
    if (!(error instanceof PurgeEndedError)) throw error;
  }
}

class PurgeRun {
  constructor(
    private readonly context: PurgeContext,
    private readonly job: PartitionJob<PurgeTask, PurgeProgress>,
    private readonly purge: Purge,
  ) {}

  async run(isFirst: boolean): Promise<void> {
    const { job, purge } = this;
    const { store, autoFields } = this.context;
    await this.#untilUnconfigured();
    if (isFirst) await job.save({ total: await this.#countLeft() });
    await job.inSlot(async () => {
      for (const source of purge.sources) await this.#purgeSource(source);
    });
    // A crashed run may have removed entities without counting them.
    await job.save({ entities: Math.max(job.progress.entities, job.progress.total) });
    for (const { tenant, sourceId } of purge.sources) {
      await forgetTypes(store, job.tag, { tenant, sourceId });
      await forgetSchedule(store, job.tag, { tenant, sourceId });
      await forgetNames(store, { tag: job.tag, tenant, sourceId });
      const timeLimit = () => this.#timeLimit();
      const forgotten = await autoFields.forgetDecided(job.tag, tenant, sourceId, timeLimit);
      await job.save({ fieldTypes: job.progress.fieldTypes + forgotten });
    }
    if (await recordPurged(store, purge.token, job.partition)) await this.#end();
  }

  /** Runs after all partitions are done, because removals can write change log entries in any partition. */
  async #end(): Promise<void> {
    const { store, configuration } = this.context;
    await configuration.refresh();
    const { tenants } = configuration.current;
    await forgetLogs(
      store,
      ({ tenant, environmentId }) =>
        tenants.get(tenant)?.environments.some(({ id }) => id === environmentId) !== true,
    );
    await endPurge(store, this.purge.token);
  }

  /**
   * Waits for processes with an earlier configuration, which could still accept entities of these sources or build outputs from
   * them.
   */
  async #untilUnconfigured(): Promise<void> {
    for (;;) {
      const processes = await liveProcesses(this.context.store);
      if (processes.every(({ generation }) => generation >= this.purge.generation)) return;
      await this.job.waits.pause();
    }
  }

  async #countLeft(): Promise<number> {
    const counts = await Promise.all(
      this.purge.sources.map(({ tenant, sourceId }) =>
        countEntities(this.context.store, this.job.partition, tenant, sourceId),
      ),
    );
    return sum(counts);
  }

  /** Repeats until no entities of the source are left here, including those that arrived meanwhile. */
  async #purgeSource(source: SourceRef): Promise<void> {
    const { store } = this.context;
    const { tenant, sourceId } = source;
    const { partition, tag, waits } = this.job;
    do {
      for await (const originIds of scanOriginIds(store, partition, tenant, sourceId)) {
        for (let at = 0; at < originIds.length; ) {
          const portion = originIds.slice(at, at + (await this.job.nextPortion()));
          at += portion.length;
          await this.#remove(source, portion);
        }
      }
      await waits.untilCheckpoint(await lastSequence(store, tag));
    } while ((await countEntities(store, partition, tenant, sourceId)) > 0);
  }

  async #remove({ tenant, sourceId }: SourceRef, originIds: readonly string[]): Promise<void> {
    const { job } = this;
    const { store } = this.context;
    const records = await readProcessed(store, job.tag, tenant, sourceId, originIds);
    const endsMs = await this.#timeLimit();
    const { removed, version } = await removeEntities(store, { tenant, sourceId, originIds, endsMs });
    const gone = records.filter((record, at) => record !== null && removed[at] === true);
    const outputs = gone.flatMap((record) => record?.outputs ?? []);
    const indexEntries = gone.flatMap((record) => record?.lookups ?? []);
    const { entities, views, items, claims, lookups } = job.progress;
    await job.save({
      entities: entities + removed.filter((was) => was).length,
      views: views + outputs.filter(({ kind }) => kind === 'view').length,
      items: items + outputs.filter(({ kind }) => kind === 'item').length,
      claims: claims + outputs.reduce((sum, output) => sum + output.claims.length, 0),
      lookups: lookups + indexEntries.reduce((sum, { keys }) => sum + keys.length, 0),
    });
    await job.waits.untilRoom([[tenant, version.get(job.partition) ?? 0]], portionMax);
  }

  /**
   * Until when this run may delete something, by `performance.now()`. While it was paused, another process may have taken over
   * its job and ended the purge. Then its sources may be configured again.
   * @throws PurgeEndedError, StoreUnavailableError
   */
  async #timeLimit(): Promise<number> {
    const endsMs = performance.now() + deletionMs;
    const running = await readPurge(this.context.store);
    if (running?.token !== this.purge.token) throw new PurgeEndedError('the purge has ended meanwhile');
    return endsMs;
  }
}

class PurgeEndedError extends Error {
  override readonly name = 'PurgeEndedError';
}
