/**
 * Moves lookup indexes from one layout to another when a configuration requires it, in steps that lookups do not notice. First
 * entities are indexed under the new layout in addition to the old one. When all partitions are done, lookups read the new
 * layout. When all workers have applied that, the old layout is dropped. See `store/configuration/layouts.ts`.
 */

import { CachedPromise } from '../lib/shared-promises.ts';
import type { LookupLayout } from '../schemas/lookup-layout.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import {
  type LayoutStates,
  layoutsVersion,
  noteFilled,
  readLayouts,
  retireFormer,
  type SourceRef,
} from '../store/configuration/layouts.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';
import { isAppliedByAll } from './applied-by-all.ts';

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
  for (const { tenant, sourceId } of layouts.sources) {
    wanted.set(`${tenant}|${sourceId}`, { tenant, sourceId, wanted: null });
  }
  for (const { alias: tenant, lookupLayouts } of current.tenants.values()) {
    for (const [sourceId, layout] of lookupLayouts) {
      wanted.set(`${tenant}|${sourceId}`, { tenant, sourceId, wanted: layout });
    }
  }
  return [...wanted.values()].filter((change) => !isWhole(layouts, change));
}

function isWhole(layouts: LayoutStates, { wanted, ...place }: LayoutChange): boolean {
  return layouts.wholeOf(place)?.id === wanted?.id;
}

/** The layouts, and which workers have applied them, at one time. */
interface Observation {
  readonly layouts: LayoutStates;
  /** True if every worker that may own a partition has applied the layouts. */
  readonly isApplied: boolean;
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
   * @returns true if lookups read the wanted layouts and no others are kept. @throws StoreUnavailableError
   */
  async advance(generation: number, partition: number, changes: readonly LayoutChange[]): Promise<boolean> {
    const { store } = this;
    const observation = await this.#observation.get();
    const { layouts } = observation;
    const isApplied = observation.isApplied && observation.generation >= generation;
    if (layouts.retiring.length > 0) {
      if (isApplied) await retireFormer(store, layouts);
      return false;
    }
    const open = changes.filter((change) => !isWhole(layouts, change));
    for (const change of open) await noteFilled(store, generation, partition, change, change.wanted);
    if (open.length > 0 || !isApplied) return false;
    // The observation may be older than a step by the job of another partition.
    return (await layoutsVersion(store)) === layouts.version;
  }
}

async function observe(store: Store): Promise<Observation> {
  const layouts = await readLayouts(store);
  const [processes, isApplied] = await Promise.all([
    liveProcesses(store),
    isAppliedByAll(store, layouts, ['worker']),
  ]);
  const workers = processes.filter(({ role }) => role === 'worker');
  return { layouts, isApplied, generation: Math.min(...workers.map((worker) => worker.generation)) };
}
