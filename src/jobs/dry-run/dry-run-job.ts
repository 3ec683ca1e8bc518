/**
 * A dry run: counts exactly what a configuration would change, without storing any of it (docs/design/live-configuration.md
 * "Dry runs"). It scans all entities once, and the URLs and handles whose claims would move. If it is interrupted, it continues
 * after the last saved portion; adding the moves of a portion again is harmless.
 */

import { setTimeout } from 'node:timers/promises';
import { knownSources } from '../../actors/rebuild/rescan.ts';
import type { ConfigDocuments, Configuration } from '../../config/configuration.ts';
import { type LoadOutcome, loadingSteps } from '../../config/documents/load.ts';
import { dryRunCopiedEntitiesMax, sliceMs } from '../../contract/limits.ts';
import { sum } from '../../lib/lists.ts';
import { grouped } from '../../lib/message-text.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import type { JobRun } from '../../store/configuration/jobs-queue.ts';
import { readLayouts } from '../../store/configuration/layouts.ts';
import { readPublished, readTenant } from '../../store/configuration/published-configuration.ts';
import { countProcessed } from '../../store/derived/processed.ts';
import { addMoves, deleteDryRun, readContests, readDryRun } from '../../store/dry-runs/dry-run.ts';
import { originIdsIn, typesIn } from '../../store/entities/directory.ts';
import { waitUntilSettled } from '../../store/partitions/partition-state.ts';
import { type SourceRef, sourceField } from '../../store/scopes.ts';
import { contestChanges, servedNow, withSame } from '../../trial/dry-run/contests.ts';
import { emptyDiff } from '../../trial/dry-run/diff.ts';
import { type DryRunContext, type EntityPlace, entityChanges } from '../../trial/dry-run/entity-changes.ts';
import { PlannedCandidates, ScanTooLongError, type WalkBounds } from '../../trial/planned-candidates.ts';
import { ReadOnlyLookups } from '../../verify/read-only-lookups.ts';
import { type JobContext, PacedJob } from '../partition-job.ts';
import { rebuildJobs, rebuildState } from '../rebuild-job-queue.ts';
import type { DryRunProgress, DryRunTask, OutputsPlace } from './queue.ts';

const pollMs = 200;

const beginning: DryRunProgress = {
  phase: 'outputs',
  outputs: null,
  claims: { partition: 0, after: null },
  done: 0,
  total: 0,
  handleClaims: 0,
  diff: emptyDiff,
  failure: null,
};

/** Runs a job, or continues an interrupted one. @throws AbortError, StoreUnavailableError */
export async function runDryRun(
  context: Omit<JobContext, 'slots'>,
  run: JobRun<DryRunTask, DryRunProgress>,
): Promise<void> {
  const sandbox = new Sandbox();
  try {
    await new DryRun(context, new PacedJob(context.pace, run, beginning), sandbox).run();
  } finally {
    sandbox.close();
  }
}

/** The dry run failed, and a retry would fail too. */
class DryRunStop extends Error {}

class DryRun {
  constructor(
    private readonly context: Omit<JobContext, 'slots'>,
    private readonly job: PacedJob<DryRunTask, DryRunProgress>,
    private readonly sandbox: Sandbox,
  ) {}

  async run(): Promise<void> {
    const { token } = this.job.task;
    try {
      if (this.job.progress.phase !== 'done') await this.#run();
    } catch (error) {
      if (!(error instanceof DryRunStop || error instanceof ScanTooLongError)) throw error;
      await this.job.save({ failure: error.message });
    }
    await deleteDryRun(this.context.store, token);
  }

  async #run(): Promise<void> {
    const { store } = this.context;
    const before = await this.#active();
    const planned = await this.#planned();
    await this.#settle();
    if (this.job.progress.phase === 'outputs') {
      await this.#outputs(await this.#dryRunContext(planned));
      await this.job.save({ phase: 'claims' });
    }
    await this.#contests();
    const tenants = [...before.tenants.values()].filter(({ alias }) => this.#isIncluded(alias));
    const served = await servedNow(store, tenants, this.job.progress.handleClaims);
    await this.#active();
    await this.job.save({ phase: 'done', diff: withSame(this.job.progress.diff, served) });
  }

  #isIncluded(tenant: string): boolean {
    return this.job.task.tenant === null || this.job.task.tenant === tenant;
  }

  /**
   * The configuration to compare with, of one tenant or of all.
   * @throws DryRunStop if another one is active
   */
  async #active(): Promise<Configuration> {
    const { store } = this.context;
    const { tenant, generation } = this.job.task;
    const published = await (tenant === null ? readPublished(store) : readTenant(store, tenant));
    if (published === null || published.generation !== generation) {
      throw new DryRunStop('another configuration became active meanwhile: start again');
    }
    const loaded = await loadedStored(published.documents);
    if (!loaded.ok)
      throw new DryRunStop('the active configuration was written by another version of Millrace');
    return loaded.configuration;
  }

  async #planned(): Promise<Configuration> {
    const documents = await readDryRun(this.context.store, this.job.task.token);
    if (documents === null) throw new DryRunStop('it waited too long: start again');
    const loaded = await loadedStored(documents);
    if (!loaded.ok) throw new DryRunStop('the configuration is not valid for this version of Millrace');
    return loaded.configuration;
  }

  /** Waits until the stored outputs are those of the active configuration. */
  async #settle(): Promise<void> {
    const { store } = this.context;
    const queue = rebuildJobs(store);
    try {
      while (!(await rebuildState(store, queue, this.job.task.generation)).isDone) {
        await setTimeout(pollMs, undefined, { signal: this.job.signal });
      }
    } finally {
      await queue.close();
    }
    await waitUntilSettled(store, this.job.signal);
    this.job.signal.throwIfAborted();
  }

  async #dryRunContext(planned: Configuration): Promise<DryRunContext> {
    const { store, autoFields } = this.context;
    const layouts = await readLayouts(store);
    const candidates = new PlannedCandidates(store, layouts, this.#walkBounds());
    return {
      store,
      planned,
      autoFields,
      sandbox: this.sandbox,
      lookups: new ReadOnlyLookups(store, candidates),
      urlFormNow: (tenant) => layouts.urlFormsOf(tenant).written,
    };
  }

  /** Bounds the copies of all sources together, because they are in memory. */
  #walkBounds(): WalkBounds {
    let copied = 0;
    return {
      keepsCopies: true,
      nextSize: () => this.job.nextPortion(),
      spend(entities, _demand, { sourceGroup }) {
        copied += entities;
        if (copied <= dryRunCopiedEntitiesMax) return;
        throw new ScanTooLongError(
          `lookups over ${sourceGroup} ask for properties that no lookup index has yet, and answering them takes copies of more ` +
            `than ${grouped(dryRunCopiedEntitiesMax)} entities; such a configuration can only be applied`,
        );
      },
    };
  }

  async #outputs(context: DryRunContext): Promise<void> {
    const { store } = this.context;
    const { tags } = store.partitions;
    if (this.job.progress.outputs === null)
      await this.job.save({ total: await this.#countEntities(context.planned) });
    const from = this.job.progress.outputs;
    for (let partition = from?.partition ?? 0; partition < tags.length; partition += 1) {
      const tag = store.partitions.tag(partition);
      for (const { tenant, sourceId } of await this.#sources(tag, context.planned)) {
        const types = (await typesIn(store, tag, { tenant, sourceId })).sort();
        for (const type of types) {
          const place = { partition, source: sourceField({ tenant, sourceId }), type };
          const after = from === null ? null : afterIn(from, place);
          if (after === 'passed') continue;
          await this.#outputsOfType(context, { tag, tenant, sourceId }, place, after);
        }
      }
    }
  }

  async #outputsOfType(
    context: DryRunContext,
    place: EntityPlace,
    at: Omit<OutputsPlace, 'originId'>,
    from: string | null,
  ): Promise<void> {
    const { store } = this.context;
    const { tag, tenant, sourceId } = place;
    for (let after = from; ; ) {
      const source = { tenant, sourceId, type: at.type };
      const originIds = await originIdsIn(store, tag, source, after, await this.job.nextPortion());
      const last = originIds.at(-1);
      if (last === undefined) return;
      const { diff, handleClaims, moves } = await entityChanges(
        context,
        place,
        originIds,
        this.job.progress.diff,
      );
      await addMoves(store, this.job.task.token, moves);
      after = last;
      await this.job.reach({
        diff,
        outputs: { ...at, originId: last },
        done: this.job.progress.done + originIds.length,
        handleClaims: this.job.progress.handleClaims + handleClaims,
      });
    }
  }

  async #contests(): Promise<void> {
    const { store } = this.context;
    const { tags } = store.partitions;
    let { partition, after } = this.job.progress.claims;
    while (partition < tags.length) {
      await this.job.nextPortion();
      const contests = await readContests(store, this.job.task.token, partition, after);
      const last = contests.at(-1);
      [partition, after] = last === undefined ? [partition + 1, null] : [partition, last.cursor];
      const diff = await contestChanges(store, contests, this.job.progress.diff);
      await this.job.reach({ diff, claims: { partition, after } });
    }
  }

  async #sources(tag: string, planned: Configuration): Promise<SourceRef[]> {
    const sources = (await knownSources(this.context.store, tag, planned)).filter(({ tenant }) =>
      this.#isIncluded(tenant),
    );
    return sources.sort((a, b) => (sourceField(a) < sourceField(b) ? -1 : 1));
  }

  async #countEntities(planned: Configuration): Promise<number> {
    const { store } = this.context;
    const counts = await Promise.all(
      store.partitions.tags.map(async (tag) => {
        const sources = await this.#sources(tag, planned);
        return await Promise.all(
          sources.map(({ tenant, sourceId }) => countProcessed(store, tag, tenant, sourceId)),
        );
      }),
    );
    return sum(counts.flat());
  }
}

/** In slices, because the process also sends webhooks. */
function loadedStored(documents: ConfigDocuments): Promise<LoadOutcome> {
  return new Slice(sliceMs).run(loadingSteps(documents, 'stored'));
}

/** Where to continue in a type: after an originId, from the beginning (null), or not at all. */
function afterIn(from: OutputsPlace, place: Omit<OutputsPlace, 'originId'>): string | null | 'passed' {
  if (place.partition > from.partition) return null;
  if (place.source !== from.source) return place.source < from.source ? 'passed' : null;
  if (place.type !== from.type) return place.type < from.type ? 'passed' : null;
  return from.originId;
}
