/**
 * The purge of one partition: removes the entities of sources that no configuration has any more, as a client would
 * remove them, and with the rests of a rebuild. The owner undoes what was made of them. A job that is run twice, or broken
 * off anywhere, goes on with what is left.
 */

import type { JobRun } from '../store/configuration/jobs-queue.ts';
import type { SourcePlace } from '../store/configuration/layouts.ts';
import { notePurged, type Purge, readPurge } from '../store/configuration/purge.ts';
import { readProcessed } from '../store/derived/processed.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import { countEntities, scanOriginIds } from '../store/entities/entities.ts';
import { removeEntities } from '../store/entities/remove.ts';
import { readOwner } from '../store/partitions/owners.ts';
import { lastSequence } from '../store/partitions/partition-state.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';
import type { FrontLoad } from './front-load.ts';
import type { OwnerSlots } from './owner-slots.ts';
import type { PurgeProgress, PurgeTask } from './purge-queue.ts';
import { RebuildWaits } from './rebuild-waits.ts';
import type { Throttle } from './throttle.ts';

/** Removed between two rests, a few milliseconds of work that a reader may wait for. */
const entitiesPerPortion = 20;

export interface PurgeContext {
  readonly store: Store;
  readonly autoFields: AutoFields;
  readonly throttle: Throttle;
  readonly slots: OwnerSlots;
  readonly fronts: FrontLoad;
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

/** Does a job, from where an earlier run of it was broken off. @throws AbortError, StoreUnavailableError */
export async function runPurge(context: PurgeContext, run: JobRun<PurgeTask, PurgeProgress>): Promise<void> {
  const purge = await readPurge(context.store);
  // Another run of this job has ended it.
  if (purge?.token !== run.task.token) return;
  await new PurgeRun(context, run, purge).run();
}

class PurgeRun {
  readonly #tag: string;
  readonly #partition: number;
  readonly #waits: RebuildWaits;
  #progress: PurgeProgress;

  constructor(
    private readonly context: PurgeContext,
    private readonly job: JobRun<PurgeTask, PurgeProgress>,
    private readonly purge: Purge,
  ) {
    const { store, fronts } = context;
    this.#partition = job.task.partition;
    this.#tag = store.partitions.tag(this.#partition);
    this.#waits = new RebuildWaits(store, this.#partition, fronts, job.signal);
    this.#progress = job.progress ?? beginning;
  }

  async run(): Promise<void> {
    await this.#untilNobodyHasThem();
    if (this.job.progress === null) await this.#save({ total: await this.#left() });
    const { store, slots } = this.context;
    const { workerId } = await readOwner(store, this.#partition);
    const release = await slots.take(workerId);
    try {
      for (const source of this.purge.sources) await this.#purgeSource(source);
    } finally {
      release();
    }
    // A run that crashed may have removed some that it could not count any more.
    await this.#save({ entities: Math.max(this.#progress.entities, this.#progress.total) });
    for (const { tenant, sourceId } of this.purge.sources) {
      const forgotten = await this.context.autoFields.forgetDecided(this.#tag, tenant, sourceId);
      await this.#save({ fieldTypes: this.#progress.fieldTypes + forgotten });
    }
    await notePurged(store, this.purge.token, this.#partition);
  }

  /** A process that runs a former configuration could still take entities in, or make something of them. */
  async #untilNobodyHasThem(): Promise<void> {
    for (;;) {
      const processes = await liveProcesses(this.context.store);
      if (processes.every(({ generation }) => generation >= this.purge.generation)) return;
      await this.#waits.pause();
    }
  }

  async #left(): Promise<number> {
    const counts = await Promise.all(
      this.purge.sources.map(({ tenant, sourceId }) =>
        countEntities(this.context.store, this.#partition, tenant, sourceId),
      ),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Until nothing is left of it here, what came while it was removed included. */
  async #purgeSource({ tenant, sourceId }: SourcePlace): Promise<void> {
    const { store } = this.context;
    do {
      for await (const originIds of scanOriginIds(store, this.#partition, tenant, sourceId)) {
        for (let at = 0; at < originIds.length; at += entitiesPerPortion) {
          await this.#remove(tenant, sourceId, originIds.slice(at, at + entitiesPerPortion));
        }
      }
      await this.#waits.untilCheckpoint(await lastSequence(store, this.#tag));
    } while ((await countEntities(store, this.#partition, tenant, sourceId)) > 0);
  }

  async #remove(tenant: string, sourceId: string, originIds: readonly string[]): Promise<void> {
    const { store, throttle } = this.context;
    this.job.signal.throwIfAborted();
    await throttle.take(originIds.length, this.job.signal);
    await this.#waits.untilRoom([]);
    const records = await readProcessed(store, this.#tag, tenant, sourceId, originIds);
    const { removed, version } = await removeEntities(store, { tenant, sourceId, originIds });
    const { entities, views, items, claims, lookups } = this.#progress;
    const gone = records.filter((record, at) => record !== null && removed[at] === true);
    const outputs = gone.flatMap((record) => record?.made ?? []);
    const indexEntries = gone.flatMap((record) => record?.lookups ?? []);
    await this.#save({
      entities: entities + removed.filter((was) => was).length,
      views: views + outputs.filter(({ kind }) => kind === 'view').length,
      items: items + outputs.filter(({ kind }) => kind === 'item').length,
      claims: claims + outputs.reduce((sum, output) => sum + output.claims.length, 0),
      lookups: lookups + indexEntries.reduce((sum, { keys }) => sum + keys.length, 0),
    });
    await this.#waits.rest(tenant, version.get(this.#partition) ?? 0);
  }

  async #save(change: Partial<PurgeProgress>): Promise<void> {
    this.#progress = { ...this.#progress, ...change };
    await this.job.save(this.#progress);
  }
}
