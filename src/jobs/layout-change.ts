/**
 * Brings the lookup indexes from one layout to another when a configuration asks for it, in steps that no lookup can
 * notice. First entities come under the new layout beside the old one. When that holds in all partitions, lookups read the
 * new layout. When all workers know that, the old layout is given up. See `store/configuration/layouts.ts`.
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
  type SourcePlace,
} from '../store/configuration/layouts.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';
import { isAppliedByAll } from './applied-by-all.ts';

/** How long one look serves. */
const sightMs = 100;

/** A source whose whole layout is not the one that the configuration requires. */
export interface LayoutChange extends SourcePlace {
  /** Null when no lookup reads the source. */
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

/** The layouts and the workers that know them, at one time. */
interface Sight {
  readonly layouts: LayoutStates;
  /** True when every worker that may own a partition is known and knows the layouts. */
  readonly isKnown: boolean;
  /** The lowest generation of all workers. */
  readonly generation: number;
}

/** Looks on behalf of the jobs of all partitions, because all of them wait for the same. */
export class LayoutWatch {
  readonly #sight: CachedPromise<Sight>;

  constructor(private readonly store: Store) {
    this.#sight = new CachedPromise(() => sightOf(store), sightMs);
  }

  /**
   * One step towards the wanted layouts, on behalf of a partition whose entities all are under them.
   * @returns true when lookups read the wanted layouts and nothing else is kept. @throws StoreUnavailableError
   */
  async advance(generation: number, partition: number, changes: readonly LayoutChange[]): Promise<boolean> {
    const { store } = this;
    const sight = await this.#sight.get();
    const { layouts } = sight;
    const isKnown = sight.isKnown && sight.generation >= generation;
    if (layouts.retiring.length > 0) {
      if (isKnown) await retireFormer(store, layouts);
      return false;
    }
    const open = changes.filter((change) => !isWhole(layouts, change));
    for (const change of open) await noteFilled(store, generation, partition, change, change.wanted);
    if (open.length > 0 || !isKnown) return false;
    // The look may be older than a step that the job of another partition has made.
    return (await layoutsVersion(store)) === layouts.version;
  }
}

async function sightOf(store: Store): Promise<Sight> {
  const layouts = await readLayouts(store);
  const [processes, isKnown] = await Promise.all([
    liveProcesses(store),
    isAppliedByAll(store, layouts, ['worker']),
  ]);
  const workers = processes.filter(({ role }) => role === 'worker');
  return { layouts, isKnown, generation: Math.min(...workers.map((worker) => worker.generation)) };
}
