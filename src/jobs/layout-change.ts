/**
 * Moves data from one layout to another when a configuration requires it, in steps that readers do not notice: all processes
 * that may act on the previous state apply a step before the next one begins.
 *
 * Lookup indexes (`store/configuration/layouts.ts`): first entities are indexed under the new layout in addition to the old one.
 * When all partitions are done, lookups read the new layout. When all workers have applied that, the old layout is dropped.
 *
 * Claims on URLs (`store/configuration/url-forms.ts`): readers look for both forms before the first claim is written in the new
 * one.
 */
import { CachedPromise } from '../lib/shared-promises.ts';
import type { LookupLayout } from '../schemas/lookup-layout.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import {
  type LayoutStates,
  layoutsVersion,
  readLayouts,
  recordFilled,
  retirePrevious,
} from '../store/configuration/layouts.ts';
import {
  isSettled,
  nextStep,
  recordMoved,
  stepUrlForms,
  wantedForm,
} from '../store/configuration/url-forms.ts';
import { type PartitionOwner, readOwners } from '../store/ownership/owners.ts';
import type { ProcessBeat } from '../store/processes/process-messages.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import { type SourceRef, sourceField } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';

/** How long an observation is reused. */
const observationMs = 100;

/** A source whose current layout is not the one that the configuration requires. */
export interface LayoutChange extends SourceRef {
  /** Null if no lookup reads the source. */
  readonly wanted: LookupLayout | null;
}

/** The sources whose layout has to change. @throws StoreUnavailableError */
export async function layoutChanges(
  store: Store,
  { current }: Pick<ActiveConfiguration, 'current'>,
): Promise<LayoutChange[]> {
  const layouts = await readLayouts(store);
  const wanted = new Map<string, LayoutChange>();
  for (const source of layouts.sources) wanted.set(sourceField(source), { ...source, wanted: null });
  for (const { alias: tenant, lookupLayouts } of current.tenants.values()) {
    for (const [sourceId, layout] of lookupLayouts) {
      wanted.set(sourceField({ tenant, sourceId }), { tenant, sourceId, wanted: layout });
    }
  }
  return [...wanted.values()].filter((change) => !isComplete(layouts, change));
}

function isComplete(layouts: LayoutStates, { wanted, ...place }: LayoutChange): boolean {
  return layouts.completeOf(place)?.id === wanted?.id;
}

/** The layouts and forms, and which processes have applied them, at one time. */
interface Observation {
  readonly layouts: LayoutStates;
  /** True if every worker that may own a partition has applied them. */
  readonly isAppliedByWorkers: boolean;
  /** True if every front has, too. */
  readonly isAppliedByAll: boolean;
  /** The lowest generation of all workers. */
  readonly generation: number;
}

/** Observes the layouts for the jobs of all partitions, which wait for the same changes. */
export class LayoutWatch {
  readonly #observation: CachedPromise<Observation>;

  constructor(private readonly store: Store) {
    this.#observation = new CachedPromise(() => observe(store), observationMs);
  }

  /**
   * Makes one step towards the wanted layouts, for a partition whose entities are all indexed under them.
   * @returns true if lookups read the wanted layouts and no others are kept
   * @throws StoreUnavailableError
   */
  async advance(generation: number, partition: number, changes: readonly LayoutChange[]): Promise<boolean> {
    const { store } = this;
    const observation = await this.#observation.get();
    const { layouts } = observation;
    const isApplied = observation.isAppliedByWorkers && observation.generation >= generation;
    if (layouts.retiring.length > 0) {
      if (isApplied) await retirePrevious(store, layouts);
      return false;
    }
    const open = changes.filter((change) => !isComplete(layouts, change));
    for (const change of open) await recordFilled(store, generation, partition, change, change.wanted);
    if (open.length > 0 || !isApplied) return false;
    return await this.#isCurrent(layouts);
  }

  /**
   * Makes one step towards the forms of URLs that the configuration requires.
   * @returns true if all new claims are written in them. Earlier claims are still to be moved.
   * @throws StoreUnavailableError
   */
  async advanceUrlForms({ current, generation }: ActiveConfiguration): Promise<boolean> {
    const { layouts, isAppliedByAll } = await this.#observation.get();
    const tenants = new Set([...current.tenants.keys(), ...layouts.tenantsWithUrlForms]);
    const open = [...tenants].flatMap((tenant) => {
      const from = layouts.urlFormsOf(tenant);
      const to = nextStep(from, wantedForm(current, tenant));
      return to === null ? [] : [{ generation, tenant, from, to }];
    });
    for (const step of open) {
      // Readers may switch to a form at any time, but claims are only written in it when all readers read it.
      const writesNewForm = step.from.read.includes(step.to.written) && step.from.written !== step.to.written;
      if (!writesNewForm || isAppliedByAll) await stepUrlForms(this.store, step);
    }
    const isMoving = layouts.tenantsWithUrlForms.some(
      (tenant) => !isSettled(layouts.urlFormsOf(tenant), wantedForm(current, tenant)),
    );
    if (open.length > 0 || (!isAppliedByAll && isMoving)) return false;
    return await this.#isCurrent(layouts);
  }

  /** Reports that a partition has no claims in an earlier form left. @throws StoreUnavailableError */
  async recordUrlsMoved({ current, generation }: ActiveConfiguration, partition: number): Promise<void> {
    const layouts = await readLayouts(this.store);
    for (const tenant of layouts.tenantsWithUrlForms) {
      const state = layouts.urlFormsOf(tenant);
      const wanted = wantedForm(current, tenant);
      if (state.written !== wanted || isSettled(state, wanted)) continue;
      await recordMoved(this.store, generation, partition, tenant, state);
    }
  }

  /** False if the observation is older than a step by the job of another partition. */
  async #isCurrent(observed: LayoutStates): Promise<boolean> {
    return (await layoutsVersion(this.store)) === observed.version;
  }
}

async function observe(store: Store): Promise<Observation> {
  const layouts = await readLayouts(store);
  const [processes, owners] = await Promise.all([liveProcesses(store), readOwners(store)]);
  const workers = processes.filter(({ role }) => role === 'worker');
  const hasApplied = (process: ProcessBeat) => process.layouts >= layouts.version;
  const isAppliedByWorkers =
    owners.every((owner) => isOwnerAlive(owner, processes)) && workers.every(hasApplied);
  return {
    layouts,
    isAppliedByWorkers,
    isAppliedByAll: isAppliedByWorkers && processes.filter(({ role }) => role === 'web').every(hasApplied),
    generation: Math.min(...workers.map((worker) => worker.generation)),
  };
}

/**
 * True if the only worker that may still commit to a partition sends heartbeats, so that its progress can be awaited. An owner
 * may commit until another worker takes the partition, however long ago its lease has expired. A worker that takes a partition
 * first applies the active state (`actors/ownership/owned-partitions.ts`).
 */
export function isOwnerAlive({ workerId }: PartitionOwner, live: readonly ProcessBeat[]): boolean {
  return workerId === null || live.some(({ id }) => id === workerId);
}
