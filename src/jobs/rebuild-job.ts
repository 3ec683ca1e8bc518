/**
 * The rebuild of one partition after a change of configuration. It looks at everything that was ever processed there. It
 * asks the owner to rebuild the entities whose outputs are not those of the present configuration.
 *
 * There is no list of differences between two configurations that could be lost. A job that runs twice, or is broken off
 * anywhere, ends in the same state. Passes are repeated until one finds nothing.
 *
 * Where the configuration asks for other lookup indexes, all partitions fill them first (`layout-change.ts`). Until then
 * workers defer the outputs that need them, and the passes that follow find those.
 */

import { buildersFor, outputKey, placeOf } from '../actors/batch/builder.ts';
import type { TurnBasis } from '../actors/batch/turn.ts';
import { knownSources } from '../actors/rebuild/rescan.ts';
import type { UrlForm } from '../config/urls/url.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import type { JobRun } from '../store/configuration/job-runner.ts';
import { readLayouts } from '../store/configuration/layouts.ts';
import { countProcessed } from '../store/derived/processed.ts';
import { type ProcessedRecord, processedState } from '../store/derived/processed-record.ts';
import { urlFormOfField } from '../store/keys.ts';
import { readOwner } from '../store/ownership/owners.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import { isOwnerAlive } from './applied-by-all.ts';
import { type LayoutChange, type LayoutWatch, layoutChanges } from './layout-change.ts';
import { type JobContext, PartitionJob } from './partition-job.ts';
import type { RebuildProgress, RebuildTask } from './rebuild-job-queue.ts';
import { type Criterion, type PassSource, type ProcessedEntity, RebuildPass } from './rebuild-pass.ts';
import type { UrlFormWatch } from './url-form-change.ts';

/** How often the jobs of all partitions look whether lookup indexes are whole, and whether all know the form of URLs. */
const layoutsPollMs = 200;
/** An entity that no rebuild brings up to date must not keep the job going for ever. */
const passesMax = 5;

export interface RebuildContext extends JobContext {
  readonly configuration: ActiveConfiguration;
  readonly layoutWatch: LayoutWatch;
  readonly urlFormWatch: UrlFormWatch;
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
  done: false,
};

/** Does a job, from where an earlier run of it was broken off. @throws AbortError, StoreUnavailableError */
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
      job.note({ phase: 'rebuild', pass: 1, place: null, markedInPass: 0 });
    }
    await this.#changeUrlForms();
    await job.inSlot(() => this.#rebuild());
    await this.#noteUrlsMoved();
    await job.save({ done: true });
  }

  /**
   * Puts every entity under the lookup layouts that the configuration requires. @returns the layouts that lookups do
   * not read yet
   */
  async #fill(): Promise<LayoutChange[]> {
    await this.#waitForWorkers();
    const { store, configuration } = this.context;
    const changes = await layoutChanges(store, configuration);
    const wanted = new Map(
      changes.map(({ tenant, sourceId, wanted }) => [`${tenant}|${sourceId}`, wanted?.id ?? null]),
    );
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

  /** Waits, without holding up the jobs of other partitions, until lookups read the layouts that the configuration requires. */
  async #changeLayouts(changes: readonly LayoutChange[]): Promise<void> {
    const { layoutWatch } = this.context;
    const { generation, partition } = this.job.task;
    while (!this.#isSuperseded && !(await layoutWatch.advance(generation, partition, changes))) {
      await this.job.waits.pause(layoutsPollMs);
    }
  }

  /** Waits, as `#changeLayouts`, until workers put claims on URLs in the form that the configuration requires. */
  async #changeUrlForms(): Promise<void> {
    const { configuration, urlFormWatch } = this.context;
    await configuration.refresh();
    while (!this.#isSuperseded && !(await urlFormWatch.advance(configuration))) {
      await this.job.waits.pause(layoutsPollMs);
      await configuration.refresh();
    }
  }

  async #noteUrlsMoved(): Promise<void> {
    const { configuration, urlFormWatch } = this.context;
    if (!this.#isSuperseded) await urlFormWatch.noteMoved(configuration, this.job.partition);
  }

  async #rebuild(): Promise<void> {
    await this.#waitForWorkers();
    await this.#passes(await this.#sources(), (source, records) => this.#outdated(source, records));
  }

  async #outdated(
    { tenant, sourceId }: PassSource,
    records: readonly ProcessedEntity[],
  ): Promise<ProcessedEntity[]> {
    const { store, configuration, autoFields } = this.context;
    const basis = { configuration: configuration.current, layouts: await readLayouts(store) };
    const types = [...new Set(records.map(({ record }) => record.type))];
    const withoutRoom = await autoFields.typesWithoutRoom(tenant, sourceId, types);
    return records.filter(({ record }) =>
      isOutdated(basis, tenant, sourceId, record, (type) => withoutRoom.has(type)),
    );
  }

  /** Passes over the sources until one finds nothing. */
  async #passes(sources: readonly PassSource[], criterion: Criterion): Promise<void> {
    const { job } = this;
    const { store, onInvalidated } = this.context;
    const pass = new RebuildPass(store, job, criterion, () => this.#isSuperseded, onInvalidated);
    while (!this.#isSuperseded) {
      await pass.run(sources);
      await job.waits.untilRebuilt(job.progress.lastMarks);
      const { pass: number, markedInPass } = job.progress;
      if (markedInPass === 0 || number >= passesMax) break;
      job.note({ pass: number + 1, place: null, markedInPass: 0 });
    }
  }

  /** A newer configuration has jobs of its own, which look at everything again. */
  get #isSuperseded(): boolean {
    return this.context.configuration.generation > this.job.task.generation;
  }

  /**
   * Waits until no worker follows the former configuration: its rebuild would be in vain, and what it still commits would
   * not be what the passes look for.
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
      .map(({ tenant, sourceId }) => ({ key: `${tenant}|${sourceId}`, tenant, sourceId }))
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
    this.job.note({
      total: counts.reduce((sum, count) => sum + count, 0),
      ofTenants: [...ofTenants].map(([tenant, total]) => [tenant, 0, total]),
    });
  }
}

/**
 * Names, schema digests and the forms of URLs are compared, no bytes: an equal digest means that no view of the schema can differ. A
 * recorded output without a builder is outdated too, so that a rebuild of its entity removes it.
 * @param hasNoRoom true for an entity type of which no index item is built, because its source has no room for it
 */
function isOutdated(
  { configuration, layouts }: TurnBasis,
  tenantAlias: string,
  sourceId: string,
  record: ProcessedRecord,
  hasNoRoom: (type: string) => boolean,
): boolean {
  const { type, lookups, outputs } = record;
  // No configuration makes anything of an entity that is not published.
  if (processedState(record) !== 'published') return lookups.length + outputs.length > 0;
  const place = placeOf(configuration, tenantAlias, sourceId);
  const wanted = place?.tenant.lookupLayouts.get(sourceId) ?? null;
  const kept = layouts.keptOf({ tenant: tenantAlias, sourceId }, wanted);
  if (
    !sameNames(
      kept.map(({ id }) => id),
      lookups.map(({ layoutId }) => layoutId),
    )
  )
    return true;
  const { written } = layouts.urlFormsOf(tenantAlias);
  if (outputs.some(({ claims }) => claims.some(({ field }) => isOtherForm(field, written)))) return true;
  const builders = (place === null ? [] : buildersFor(place.tenant, place.source, type)).filter(
    ({ kind, schema }) => kind === 'view' || schema !== null || !hasNoRoom(type),
  );
  if (builders.length !== outputs.length) return true;
  const digests = new Map(builders.map((builder) => [outputKey(builder), builder.schemaDigest]));
  return outputs.some((output) => digests.get(outputKey(output)) !== output.schemaDigest);
}

/** True for the claim field of a URL in another form than the one in which the tenant's URLs are claimed. */
function isOtherForm(field: string, written: UrlForm): boolean {
  const form = urlFormOfField(field);
  return form !== null && form !== written;
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}
