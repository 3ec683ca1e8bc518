/**
 * The rebuild of one partition after a configuration change. It scans all processed records, and asks the owner to rebuild
 * entities whose outputs are not those of the current configuration.
 *
 * It needs no list of differences between two configurations, which could be lost. A job that runs twice or is interrupted ends
 * in the same state. Passes are repeated until one finds nothing outdated.
 *
 * If the configuration requires other lookup indexes, all partitions fill them first (`layout-change.ts`). Until then workers
 * defer the outputs that need them, and later passes find these.
 */

import { buildersFor, outputKey, placeOf } from '../actors/batch/builder.ts';
import type { TurnBasis } from '../actors/batch/turn.ts';
import { knownSources } from '../actors/rebuild/rescan.ts';
import type { UrlForm } from '../config/urls/url.ts';
import { sum } from '../lib/lists.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import type { JobRun } from '../store/configuration/jobs-queue.ts';
import { readLayouts } from '../store/configuration/layouts.ts';
import { countProcessed } from '../store/derived/processed.ts';
import { type ProcessedRecord, processedState } from '../store/derived/processed-record.ts';
import { urlFormOfField } from '../store/keys.ts';
import { readOwner } from '../store/ownership/owners.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import { type SourceRef, sourceField } from '../store/scopes.ts';
import { isOwnerAlive, type LayoutChange, type LayoutWatch, layoutChanges } from './layout-change.ts';
import { type JobContext, PartitionJob } from './partition-job.ts';
import type { RebuildProgress, RebuildTask } from './rebuild-job-queue.ts';
import { type Criterion, type PassSource, type ProcessedEntity, RebuildPass } from './rebuild-pass.ts';

/** How often jobs check whether changes of layouts and URL forms are complete. */
const layoutsPollMs = 200;
/** Ends the job even if an entity remains outdated after each rebuild. */
const passesMax = 5;

export interface RebuildContext extends JobContext {
  readonly configuration: ActiveConfiguration;
  readonly layoutWatch: LayoutWatch;
  onInvalidated(count: number): void;
}

const beginning: RebuildProgress = {
  phase: 'fill',
  pass: 1,
  place: null,
  scanned: 0,
  total: 0,
  markedInPass: 0,
  marked: 0,
  lastMarks: [],
};

/** Runs a job, or continues an interrupted one. @throws AbortError, StoreUnavailableError */
export async function runRebuild(
  context: RebuildContext,
  run: JobRun<RebuildTask, RebuildProgress>,
): Promise<void> {
  await new Rebuild(context, new PartitionJob(context, run, beginning)).run();
}

class Rebuild {
  constructor(
    private readonly context: RebuildContext,
    private readonly job: PartitionJob<RebuildTask, RebuildProgress>,
  ) {}

  async run(): Promise<void> {
    const { job } = this;
    if (job.progress.phase === 'fill') {
      const changes = await job.inSlot(() => this.#fill());
      await this.#changeLayouts(changes);
      job.update({ phase: 'rebuild', pass: 1, place: null, markedInPass: 0 });
    }
    await this.#changeUrlForms();
    await job.inSlot(() => this.#rebuild());
    await this.#recordUrlsMoved();
    await job.save({ isSuperseded: this.#isSuperseded });
  }

  /**
   * Indexes every entity under the lookup layouts that the configuration requires.
   * @returns the layouts that lookups do not read yet
   */
  async #fill(): Promise<LayoutChange[]> {
    await this.#waitForWorkers();
    const { store, configuration } = this.context;
    const changes = await layoutChanges(store, configuration);
    const wanted = new Map(changes.map((change) => [sourceField(change), change.wanted?.id ?? null]));
    const sources = await this.#sources();
    const changed = sources.filter(({ key }) => (wanted.get(key) ?? null) !== null);
    const { place, pass } = this.job.progress;
    if (place === null && pass === 1) await this.#count([...sources, ...changed]);
    await this.#passes(changed, ({ key }, records) => {
      const layoutId = wanted.get(key);
      return records.filter(({ record }) => !record.lookups.some((entries) => entries.layoutId === layoutId));
    });
    return changes;
  }

  /** Waits, without holding a slot, until lookups read the layouts that the configuration requires. */
  async #changeLayouts(changes: readonly LayoutChange[]): Promise<void> {
    const { layoutWatch } = this.context;
    const { generation, partition } = this.job.task;
    while (!this.#isSuperseded && !(await layoutWatch.advance(generation, partition, changes))) {
      await this.job.waits.pause(layoutsPollMs);
    }
  }

  /** Waits, like `#changeLayouts`, until workers write claims on URLs in the form that the configuration requires. */
  async #changeUrlForms(): Promise<void> {
    const { configuration, layoutWatch } = this.context;
    await configuration.refresh();
    while (!this.#isSuperseded && !(await layoutWatch.advanceUrlForms(configuration))) {
      await this.job.waits.pause(layoutsPollMs);
      await configuration.refresh();
    }
  }

  async #recordUrlsMoved(): Promise<void> {
    const { configuration, layoutWatch } = this.context;
    if (!this.#isSuperseded) await layoutWatch.recordUrlsMoved(configuration, this.job.partition);
  }

  async #rebuild(): Promise<void> {
    await this.#waitForWorkers();
    await this.#passes(await this.#sources(), (source, records) => this.#outdated(source, records));
  }

  async #outdated(source: PassSource, records: readonly ProcessedEntity[]): Promise<ProcessedEntity[]> {
    const { store, configuration, autoFields } = this.context;
    const basis = { configuration: configuration.current, layouts: await readLayouts(store) };
    const types = [...new Set(records.map(({ record }) => record.type))];
    const withoutRoom = await autoFields.typesWithoutRoom(source.tenant, source.sourceId, types);
    return records.filter(({ record }) => isOutdated(basis, source, record, withoutRoom));
  }

  /** Repeats passes over the sources until one finds nothing. */
  async #passes(sources: readonly PassSource[], criterion: Criterion): Promise<void> {
    const { job } = this;
    const { store, onInvalidated } = this.context;
    const pass = new RebuildPass(store, job, criterion, () => this.#isSuperseded, onInvalidated);
    while (!this.#isSuperseded) {
      await pass.run(sources);
      await job.waits.untilRebuilt(job.progress.lastMarks);
      const { pass: number, markedInPass } = job.progress;
      if (markedInPass === 0 || number >= passesMax) break;
      job.update({ pass: number + 1, place: null, markedInPass: 0 });
    }
  }

  /** A newer configuration has its own jobs, which scan everything again. */
  get #isSuperseded(): boolean {
    return this.context.configuration.generation > this.job.task.generation;
  }

  /**
   * Waits until no worker follows the previous configuration: its rebuilds would be useless, and the passes could miss what it
   * still commits.
   */
  async #waitForWorkers(): Promise<void> {
    const { store, configuration } = this.context;
    const { generation, partition } = this.job.task;
    for (;;) {
      this.job.signal.throwIfAborted();
      await configuration.refresh();
      const [processes, owner] = await Promise.all([liveProcesses(store), readOwner(store, partition)]);
      const isCurrent = processes.every((one) => one.role !== 'worker' || one.generation >= generation);
      if (configuration.generation >= generation && isOwnerAlive(owner, processes) && isCurrent) return;
      await this.job.waits.pause();
    }
  }

  async #sources(): Promise<PassSource[]> {
    const { store, configuration } = this.context;
    const sources = await knownSources(store, this.job.tag, configuration.current);
    return sources
      .map((source) => ({ key: sourceField(source), ...source }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  async #count(sources: readonly PassSource[]): Promise<void> {
    const counts = await Promise.all(
      sources.map(({ tenant, sourceId }) =>
        countProcessed(this.context.store, this.job.tag, tenant, sourceId),
      ),
    );
    const ofTenants = new Map<string, number>();
    sources.forEach(({ tenant }, at) => {
      ofTenants.set(tenant, (ofTenants.get(tenant) ?? 0) + (counts[at] ?? 0));
    });
    this.job.update({
      total: sum(counts),
      ofTenants: [...ofTenants].map(([tenant, total]) => [tenant, 0, total]),
    });
  }
}

/**
 * Compares names, schema digests and the forms of URLs, but no bytes: views of schemas with equal digests are equal. A record
 * with an output that has no builder is outdated too, so that a rebuild removes the output.
 * @param withoutRoom entity types without index items, because their source has reached its limit of types
 */
function isOutdated(
  { configuration, layouts }: TurnBasis,
  source: SourceRef,
  record: ProcessedRecord,
  withoutRoom: ReadonlySet<string>,
): boolean {
  const { type, lookups, outputs } = record;
  // An entity that is not published has no outputs.
  if (processedState(record) !== 'published') return lookups.length + outputs.length > 0;
  const place = placeOf(configuration, source);
  const wanted = place?.tenant.lookupLayouts.get(source.sourceId) ?? null;
  const kept = layouts.keptOf(source, wanted);
  const [keptIds, indexedIds] = [kept.map(({ id }) => id), lookups.map(({ layoutId }) => layoutId)];
  if (!sameNames(keptIds, indexedIds)) return true;
  const { written } = layouts.urlFormsOf(source.tenant);
  if (outputs.some(({ claims }) => claims.some(({ field }) => isOtherForm(field, written)))) return true;
  const builders = (place === null ? [] : buildersFor(place.tenant, place.source, type)).filter(
    ({ kind, schema }) => kind === 'view' || schema !== null || !withoutRoom.has(type),
  );
  if (builders.length !== outputs.length) return true;
  const digests = new Map(builders.map((builder) => [outputKey(builder), builder.schemaDigest]));
  return outputs.some((output) => digests.get(outputKey(output)) !== output.schemaDigest);
}

/** True for the claim field of a URL in a form other than the tenant's current one. */
function isOtherForm(field: string, written: UrlForm): boolean {
  const form = urlFormOfField(field);
  return form !== null && form !== written;
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}
