/**
 * Answers lookups of schemas that are not stored. What no lookup index has is found by going through the source, a small
 * portion at a time, within a bound for all lookups together. Beyond it there is no answer: a short list would be a lie.
 */
import { keysOf, type LookupDemand, lookupSource, wholeLayout } from '../actors/batch/lookup-source.ts';
import type { Source } from '../config/configuration.ts';
import { stateAt } from '../contract/publish-times.ts';
import { portions } from '../lib/portions.ts';
import { entriesOf, type LookupLayout, layoutOf, project } from '../schemas/lookup/layout.ts';
import type { LookupCandidate } from '../schemas/lookup/lookup-query.ts';
import type { LookupPlan } from '../schemas/lookup/plan.ts';
import type { LayoutStates } from '../store/configuration/layouts.ts';
import { readEntities, scanOriginIds } from '../store/entities/entities.ts';
import { readOwner } from '../store/partitions/owners.ts';
import type { Store } from '../store/store.ts';
import { type CandidateSource, IndexedCandidates } from '../verify/read-only-lookups.ts';

/** A portion takes about a millisecond. */
const entitiesPerRead = 50;

/** Lookups that no index answers would have to go through too many entities. */
export class ScanTooLongError extends Error {
  override readonly name = 'ScanTooLongError';
}

export interface ScanBounds {
  /** Entities that all lookups together may go through. */
  readonly entitiesMax: number;
  readonly milliseconds: number;
}

const layoutsOfPlans = new WeakMap<LookupPlan, LookupLayout>();

/** A layout that holds what one lookup needs. */
export function layoutOfPlan(plan: LookupPlan): LookupLayout {
  const layout = layoutsOfPlans.get(plan) ?? layoutOf([plan]);
  layoutsOfPlans.set(plan, layout);
  return layout;
}

export class ScannedCandidates implements CandidateSource {
  readonly #indexed: IndexedCandidates;
  readonly #endMs: number;
  #entitiesLeft: number;

  constructor(
    private readonly store: Store,
    private readonly layouts: LayoutStates,
    private readonly bounds: ScanBounds,
  ) {
    this.#indexed = new IndexedCandidates(store, layouts);
    this.#entitiesLeft = bounds.entitiesMax;
    this.#endMs = performance.now() + bounds.milliseconds;
  }

  layoutFor(demand: LookupDemand): LookupLayout | null {
    if (lookupSource(demand) === null) return null;
    return wholeLayout(demand, this.layouts) ?? layoutOfPlan(demand.query.plan);
  }

  /** @throws ScanTooLongError, StoreUnavailableError */
  async candidates(
    demand: LookupDemand,
    source: Source,
    layout: LookupLayout,
  ): Promise<Iterable<LookupCandidate>> {
    if (wholeLayout(demand, this.layouts) !== null)
      return await this.#indexed.candidates(demand, source, layout);
    const wanted = new Set(keysOf(demand).map(({ lookupKey }) => lookupKey));
    const found: LookupCandidate[] = [];
    for (const partition of this.store.partitions.tags.keys()) {
      const { clockMs } = await readOwner(this.store, partition);
      for await (const ids of scanOriginIds(this.store, partition, demand.tenant.alias, source.id)) {
        for (const originIds of portions(ids, entitiesPerRead)) {
          this.#spend(originIds.length, demand, source);
          const refs = originIds.map((originId) => ({ sourceId: source.id, originId }));
          for (const entity of await readEntities(this.store, demand.tenant.alias, refs)) {
            if (entity === null || stateAt(entity.times, clockMs) !== 'published') continue;
            if (!entriesOf(layout, entity).some((key) => wanted.has(key))) continue;
            found.push({ originId: entity.originId, values: project(layout, entity) });
          }
        }
      }
    }
    return found;
  }

  #spend(entities: number, { query }: LookupDemand, { sourceGroup }: Source): void {
    this.#entitiesLeft -= entities;
    if (this.#entitiesLeft >= 0 && performance.now() < this.#endMs) return;
    const { entitiesMax, milliseconds } = this.bounds;
    throw new ScanTooLongError(
      `the lookup at ${query.place} asks for properties that no lookup index of the source group ${sourceGroup} has, ` +
        `and finding its entities takes more than ${entitiesMax.toLocaleString('en-US')} entities or ${milliseconds / 1000} s; ` +
        'once the schema is applied there is an index',
    );
  }
}
