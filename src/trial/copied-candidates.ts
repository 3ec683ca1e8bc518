/**
 * Answers the lookups of a configuration that is not active. What its schemas ask for, and no stored lookup index has, is
 * answered from copies of the sources in memory, with a bound for all copies together.
 */
import { keysOf, type LookupDemand, lookupSource, wholeLayout } from '../actors/batch/lookup-source.ts';
import type { Source } from '../config/configuration.ts';
import { dryRunCopiedEntitiesMax } from '../contract/limits.ts';
import { stateAt } from '../contract/publish-times.ts';
import { entriesOf, type LookupLayout, project } from '../schemas/lookup/layout.ts';
import type { LookupCandidate } from '../schemas/lookup/lookup-query.ts';
import type { LayoutStates } from '../store/configuration/layouts.ts';
import { readEntities, scanOriginIds } from '../store/entities/entities.ts';
import { readOwner } from '../store/partitions/owners.ts';
import type { Store } from '../store/store.ts';
import { type CandidateSource, IndexedCandidates } from '../verify/read-only-lookups.ts';
import { layoutOfPlan, ScanTooLongError } from './scanned-candidates.ts';

/** Entities by their lookup keys. */
type Copy = ReadonlyMap<string, readonly LookupCandidate[]>;

export class CopiedCandidates implements CandidateSource {
  readonly #copies = new Map<string, Promise<Copy>>();
  readonly #indexed: IndexedCandidates;
  #copied = 0;

  /** @param nextPortion waits for the turn of the next portion, and tells how many entities it has */
  constructor(
    private readonly store: Store,
    private readonly layouts: LayoutStates,
    private readonly nextPortion: () => Promise<number>,
  ) {
    this.#indexed = new IndexedCandidates(store, layouts);
  }

  layoutFor(demand: LookupDemand): LookupLayout | null {
    const source = lookupSource(demand);
    if (source === null) return null;
    const whole = wholeLayout(demand, this.layouts);
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
    if (wholeLayout(demand, this.layouts) !== null)
      return await this.#indexed.candidates(demand, source, layout);
    const name = `${demand.tenant.alias}:${source.id}:${layout.id}`;
    const copying = this.#copies.get(name) ?? this.#copy(demand.tenant.alias, source, layout);
    this.#copies.set(name, copying);
    const copy = await copying;
    return keysOf(demand).flatMap(({ lookupKey }) => copy.get(lookupKey) ?? []);
  }

  async #copy(tenant: string, { id: sourceId, sourceGroup }: Source, layout: LookupLayout): Promise<Copy> {
    const copy = new Map<string, LookupCandidate[]>();
    for (const partition of this.store.partitions.tags.keys()) {
      const { clockMs } = await readOwner(this.store, partition);
      for await (const ids of scanOriginIds(this.store, partition, tenant, sourceId)) {
        for (let at = 0; at < ids.length; ) {
          const originIds = ids.slice(at, at + (await this.nextPortion()));
          at += originIds.length;
          this.#spend(originIds.length, sourceGroup);
          const refs = originIds.map((originId) => ({ sourceId, originId }));
          for (const entity of await readEntities(this.store, tenant, refs)) {
            if (entity === null || stateAt(entity.times, clockMs) !== 'published') continue;
            const candidate = { originId: entity.originId, values: project(layout, entity) };
            for (const key of entriesOf(layout, entity)) {
              const ofKey = copy.get(key);
              if (ofKey === undefined) copy.set(key, [candidate]);
              else ofKey.push(candidate);
            }
          }
        }
      }
    }
    return copy;
  }

  #spend(entities: number, sourceGroup: string): void {
    this.#copied += entities;
    if (this.#copied <= dryRunCopiedEntitiesMax) return;
    throw new ScanTooLongError(
      `lookups over ${sourceGroup} ask for properties that no lookup index has yet, and answering them takes copies of more ` +
        `than ${dryRunCopiedEntitiesMax.toLocaleString('en-US')} entities; such a configuration can only be applied`,
    );
  }
}
