/**
 * The rebuild of one partition after a change of configuration: looks at everything that was ever processed there and
 * asks the owner to rebuild the entities whose outputs are not those of the configuration of now.
 *
 * There is no list of differences between two configurations that could be lost: a job that is run twice, or broken
 * off anywhere, ends in the same state. Passes are repeated until one finds nothing.
 *
 * Where the configuration asks for other lookup indexes, they are filled in all partitions first (`layout-change.ts`);
 * what cannot be made without them is deferred by the workers until then, and found by the passes that follow.
 */
import { performance } from 'node:perf_hooks';
import { knownSources } from '../actors/rebuild/rescan.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import type { JobRun } from '../store/configuration/jobs-queue.ts';
import { readLayouts } from '../store/configuration/layouts.ts';
import { formatDependent } from '../store/derived/dependents.ts';
import {
  countProcessed,
  type ProcessedPortion,
  processedPortion,
  readProcessed,
} from '../store/derived/processed.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import { type OriginIdsPortion, originIdsPortion, readEntities } from '../store/entities/entities.ts';
import { invalidate, outsideCaller } from '../store/partitions/intake.ts';
import { readOwner, readOwners } from '../store/partitions/owners.ts';
import { lastSequence } from '../store/partitions/partition-state.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { ScanPlace } from '../store/redis/scan.ts';
import type { Store } from '../store/store.ts';
import type { FrontLoad } from './front-load.ts';
import { type LayoutChange, type LayoutWatch, layoutChanges } from './layout-change.ts';
import { isOutdated } from './outdated.ts';
import type { OwnerSlots } from './owner-slots.ts';
import type { RebuildPlace, RebuildProgress, RebuildTask } from './rebuild-queue.ts';
import { RebuildWaits } from './rebuild-waits.ts';
import type { Throttle } from './throttle.ts';

/** How often the jobs of all partitions look whether lookup indexes are whole. */
const layoutsPollMs = 200;
const saveEveryMs = 500;
/** Entities that one stream entry invalidates: what is rebuilt between two rests, a few milliseconds that a reader may wait for. */
const entitiesPerInvalidation = 20;
/** An entity that no rebuild brings up to date must not keep the job going for ever. */
const passesMax = 5;

export interface RebuildContext {
  readonly store: Store;
  readonly configuration: ActiveConfiguration;
  readonly autoFields: AutoFields;
  readonly throttle: Throttle;
  readonly slots: OwnerSlots;
  readonly layoutWatch: LayoutWatch;
  readonly fronts: FrontLoad;
  onInvalidated(count: number): void;
}

type ProcessedEntity = ProcessedPortion['records'][number];

interface Source {
  readonly key: string;
  readonly tenant: string;
  readonly sourceId: string;
}

/** True for a record whose entity must be looked at. */
type Criterion = (source: Source, records: readonly ProcessedEntity[]) => Promise<(at: number) => boolean>;

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
  await new RebuildRun(context, run).run();
}

class RebuildRun {
  readonly #tag: string;
  readonly #partition: number;
  readonly #waits: RebuildWaits;
  #progress: RebuildProgress;
  #savedMs = performance.now();

  constructor(
    private readonly context: RebuildContext,
    private readonly job: JobRun<RebuildTask, RebuildProgress>,
  ) {
    this.#partition = job.task.partition;
    this.#tag = context.store.partitions.tag(this.#partition);
    this.#waits = new RebuildWaits(context.store, this.#partition, context.fronts, job.signal);
    this.#progress = job.progress ?? beginning;
  }

  async run(): Promise<void> {
    if (this.#progress.phase === 'fill') {
      const changes = await this.#inSlot(() => this.#fill());
      await this.#changeLayouts(changes);
      this.#progress = { ...this.#progress, phase: 'rebuild', pass: 1, place: null, markedInPass: 0 };
    }
    await this.#inSlot(() => this.#rebuild());
    this.#progress = { ...this.#progress, done: true };
    await this.job.save(this.#progress);
  }

  /** Jobs that only wait for others hold no slot. */
  async #inSlot<T>(work: () => Promise<T>): Promise<T> {
    const { store, slots } = this.context;
    const { workerId } = await readOwner(store, this.#partition);
    const release = await slots.take(workerId);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Has every entity come under the lookup layouts that the configuration asks for. @returns those not read yet */
  async #fill(): Promise<LayoutChange[]> {
    this.job.signal.throwIfAborted();
    await this.#waitForWorkers();
    const { store, configuration } = this.context;
    const changes = await layoutChanges(store, configuration);
    const wanted = new Map(
      changes.map(({ tenant, sourceId, wanted }) => [`${tenant}|${sourceId}`, wanted?.id ?? null]),
    );
    const sources = await this.#sources();
    const changed = sources.filter(({ key }) => (wanted.get(key) ?? null) !== null);
    if (this.#progress.place === null && this.#progress.pass === 1)
      await this.#count([...sources, ...changed]);
    await this.#passes(changed, async ({ key }, records) => {
      const layoutId = wanted.get(key);
      return (at) => !records[at]?.record.lookups.some((entries) => entries.layoutId === layoutId);
    });
    return changes;
  }

  /** Waits, without holding up the jobs of other partitions, until lookups read the layouts that the configuration asks for. */
  async #changeLayouts(changes: readonly LayoutChange[]): Promise<void> {
    const { store, layoutWatch } = this.context;
    const { generation, partition } = this.job.task;
    if (changes.length === 0 && (await readLayouts(store)).retiring.length === 0) return;
    while (!this.#isSuperseded() && !(await layoutWatch.advance(generation, partition, changes))) {
      await this.#waits.pause(layoutsPollMs);
    }
  }

  async #rebuild(): Promise<void> {
    this.job.signal.throwIfAborted();
    await this.#waitForWorkers();
    await this.#passes(await this.#sources(), (source, records) => this.#outdated(source, records));
  }

  async #outdated(
    { tenant, sourceId }: Source,
    records: readonly ProcessedEntity[],
  ): Promise<(at: number) => boolean> {
    const { store, configuration, autoFields } = this.context;
    const basis = { configuration: configuration.current, layouts: await readLayouts(store) };
    const types = [...new Set(records.map(({ record }) => record.type))];
    const withoutRoom = await autoFields.typesWithoutRoom(tenant, sourceId, types);
    return (at) => {
      const record = records[at]?.record;
      return (
        record !== undefined && isOutdated(basis, tenant, sourceId, record, (type) => withoutRoom.has(type))
      );
    };
  }

  /** Passes over the sources until one finds nothing. */
  async #passes(sources: readonly Source[], criterion: Criterion): Promise<void> {
    while (!this.#isSuperseded()) {
      await this.#pass(sources, criterion);
      await this.#waits.untilRebuilt(this.#progress.lastMarks);
      const { pass, markedInPass } = this.#progress;
      if (markedInPass === 0 || pass >= passesMax) break;
      this.#progress = { ...this.#progress, pass: pass + 1, place: null, markedInPass: 0 };
    }
  }

  /** A newer configuration has jobs of its own, which look at everything again. */
  #isSuperseded(): boolean {
    return this.context.configuration.generation > this.job.task.generation;
  }

  /** Invalidations that an owner rebuilt by the former configuration would have been in vain. */
  async #waitForWorkers(): Promise<void> {
    const { store, configuration } = this.context;
    const { generation } = this.job.task;
    for (;;) {
      await configuration.refresh();
      const [processes, owners] = await Promise.all([liveProcesses(store), readOwners(store)]);
      const workers = processes.filter(({ role }) => role === 'worker');
      const owner = owners[this.#partition];
      const isOwnerHeard = owner?.holds !== true || workers.some(({ id }) => id === owner.workerId);
      const isCurrent = workers.every((worker) => worker.generation >= generation);
      if (configuration.generation >= generation && isOwnerHeard && isCurrent) return;
      await this.#waits.pause();
    }
  }

  async #sources(): Promise<Source[]> {
    const { store, configuration } = this.context;
    const sources = await knownSources(store, this.#tag, configuration.current);
    return sources
      .map(({ tenant, sourceId }) => ({ key: `${tenant}|${sourceId}`, tenant, sourceId }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  async #count(sources: readonly Source[]): Promise<void> {
    const counts = await Promise.all(
      sources.map(({ tenant, sourceId }) => countProcessed(this.context.store, this.#tag, tenant, sourceId)),
    );
    this.#progress = { ...this.#progress, total: counts.reduce((sum, count) => sum + count, 0) };
  }

  async #pass(sources: readonly Source[], criterion: Criterion): Promise<void> {
    const from = this.#progress.place;
    for (const source of sources) {
      if (from !== null && source.key < from.source) continue;
      const place = from?.source === source.key ? from : null;
      if (place?.scan !== 'entities') await this.#scanRecords(source, place?.at ?? null, criterion);
      await this.#scanEntities(source, place?.scan === 'entities' ? place.at : null);
      if (this.#isSuperseded()) return;
    }
  }

  async #scanRecords(source: Source, from: ScanPlace | null, criterion: Criterion): Promise<void> {
    const { key, tenant, sourceId } = source;
    const { store } = this.context;
    let at = from;
    do {
      const { next, records }: ProcessedPortion = await processedPortion(
        store,
        this.#tag,
        tenant,
        sourceId,
        at,
      );
      if (records.length > 0) {
        const isAsked = await criterion(source, records);
        const outdated = records.filter((_, index) => isAsked(index));
        await this.#invalidate(
          tenant,
          sourceId,
          outdated.map(({ originId }) => originId),
        );
      }
      at = next;
      const scanned = this.#progress.scanned + (this.#progress.pass === 1 ? records.length : 0);
      this.#progress = { ...this.#progress, scanned };
      await this.#moveTo({ source: key, scan: at === null ? 'entities' : 'records', at });
    } while (at !== null && !this.#isSuperseded());
  }

  /** Entities without a record, though the stream entry that announced them is taken in. */
  async #scanEntities({ key, tenant, sourceId }: Source, from: ScanPlace | null): Promise<void> {
    const { store } = this.context;
    let at = from;
    do {
      const portion: OriginIdsPortion = await originIdsPortion(store, this.#partition, tenant, sourceId, at);
      let missing = await this.#withoutRecord(tenant, sourceId, portion.originIds);
      if (missing.length > 0) {
        await this.#waits.untilCheckpoint(await lastSequence(store, this.#tag));
        missing = await this.#withoutRecord(tenant, sourceId, missing);
        const entities = await readEntities(
          store,
          tenant,
          missing.map((originId) => ({ sourceId, originId })),
        );
        await this.#invalidate(
          tenant,
          sourceId,
          missing.filter((_, index) => entities[index] !== null),
        );
      }
      at = portion.next;
      await this.#moveTo({ source: key, scan: 'entities', at });
    } while (at !== null && !this.#isSuperseded());
  }

  async #withoutRecord(tenant: string, sourceId: string, originIds: readonly string[]): Promise<string[]> {
    if (originIds.length === 0) return [];
    const records = await readProcessed(this.context.store, this.#tag, tenant, sourceId, originIds);
    return originIds.filter((_, index) => records[index] === null);
  }

  async #invalidate(tenant: string, sourceId: string, originIds: readonly string[]): Promise<void> {
    const { store, throttle, onInvalidated } = this.context;
    for (let at = 0; at < originIds.length; at += entitiesPerInvalidation) {
      const portion = originIds.slice(at, at + entitiesPerInvalidation);
      await throttle.take(portion.length, this.job.signal);
      await this.#waits.untilRoom(this.#progress.lastMarks);
      const dependents = portion.map((originId) =>
        formatDependent({ kind: 'entity', environmentId: '', name: '', sourceId, originId }),
      );
      const sequence = await invalidate(store, outsideCaller, this.#partition, tenant, dependents);
      this.#noteInvalidated(tenant, sequence, portion.length);
      onInvalidated(portion.length);
      await this.#waits.rest(tenant, sequence);
    }
  }

  #noteInvalidated(tenant: string, sequence: number, count: number): void {
    const { marked, markedInPass, lastMarks } = this.#progress;
    this.#progress = {
      ...this.#progress,
      marked: marked + count,
      markedInPass: markedInPass + count,
      lastMarks: [...new Map(lastMarks).set(tenant, sequence)],
    };
  }

  async #moveTo(place: RebuildPlace): Promise<void> {
    this.job.signal.throwIfAborted();
    this.#progress = { ...this.#progress, place };
    if (performance.now() - this.#savedMs < saveEveryMs) return;
    this.#savedMs = performance.now();
    await this.job.save(this.#progress);
  }
}
