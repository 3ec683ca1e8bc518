/**
 * Resolves the lookups of schemas that are not active. It uses a stored index if possible, otherwise a scan of the source, with
 * a limit for all lookups together. Beyond it the lookup fails, because an incomplete result would be wrong.
 */
import { completeLayout, keysOf, type LookupDemand, lookupSource } from '../actors/batch/lookup-source.ts';
import type { Source } from '../config/configuration.ts';
import {
  type LookupCandidate,
  type LookupLayout,
  type LookupPlan,
  layoutOf,
} from '../schemas/lookup-layout.ts';
import type { LayoutStates } from '../store/configuration/layouts.ts';
import type { Store } from '../store/store.ts';
import {
  CandidateCopy,
  type CandidateSource,
  IndexedCandidates,
  publishedPortions,
} from '../verify/read-only-lookups.ts';

/** Lookups without an index would have to scan too many entities. */
export class ScanTooLongError extends Error {
  override readonly name = 'ScanTooLongError';
}

/** Limits of scanning sources in a trial. */
export interface WalkBounds {
  /** True if many lookups follow: sources are then copied, so that each is scanned once. */
  readonly keepsCopies: boolean;
  /** Number of entities in the next portion; may wait. */
  nextSize(): number | Promise<number>;
  /** @throws ScanTooLongError if the scans exceed their limit */
  spend(entities: number, demand: LookupDemand, source: Source): void;
}

export class PlannedCandidates implements CandidateSource {
  readonly #copies = new Map<string, Promise<CandidateCopy>>();
  readonly #indexed: IndexedCandidates;

  constructor(
    private readonly store: Store,
    private readonly layouts: LayoutStates,
    private readonly bounds: WalkBounds,
  ) {
    this.#indexed = new IndexedCandidates(store, layouts);
  }

  layoutFor(demand: LookupDemand): LookupLayout | null {
    const source = lookupSource(demand);
    if (source === null) return null;
    const whole = completeLayout(demand, this.layouts);
    if (whole !== null) return whole;
    const planned = demand.tenant.lookupLayouts.get(source.id);
    return planned !== undefined && demand.query.isAnsweredBy(planned)
      ? planned
      : layoutOfPlan(demand.query.plan);
  }

  /** @throws ScanTooLongError, StoreUnavailableError */
  async candidates(
    demand: LookupDemand,
    source: Source,
    layout: LookupLayout,
  ): Promise<Iterable<LookupCandidate>> {
    if (completeLayout(demand, this.layouts) !== null)
      return await this.#indexed.candidates(demand, source, layout);
    const keys = keysOf(demand);
    const wanted = () => new CandidateCopy(layout, new Set(keys.map(({ lookupKey }) => lookupKey)));
    const copy = this.bounds.keepsCopies
      ? await this.#cachedCopy(demand, source, layout)
      : await this.#copy(demand, source, wanted());
    return copy.of(keys);
  }

  #cachedCopy(demand: LookupDemand, source: Source, layout: LookupLayout): Promise<CandidateCopy> {
    const name = `${demand.tenant.alias}:${source.id}:${layout.id}`;
    const known = this.#copies.get(name);
    if (known !== undefined) return known;
    const copying = this.#copy(demand, source, new CandidateCopy(layout));
    this.#copies.set(name, copying);
    return copying;
  }

  async #copy(demand: LookupDemand, source: Source, copy: CandidateCopy): Promise<CandidateCopy> {
    const { bounds } = this;
    const walk = publishedPortions(this.store, {
      tenant: demand.tenant.alias,
      sourceId: source.id,
      nextSize: () => bounds.nextSize(),
      spend: (entities) => bounds.spend(entities, demand, source),
    });
    for await (const entities of walk) for (const entity of entities) copy.add(entity);
    return copy;
  }
}

const layoutsOfPlans = new WeakMap<LookupPlan, LookupLayout>();

/** A layout for a single lookup. */
function layoutOfPlan(plan: LookupPlan): LookupLayout {
  const layout = layoutsOfPlans.get(plan) ?? layoutOf([plan]);
  layoutsOfPlans.set(plan, layout);
  return layout;
}
