/**
 * Copies of the sources that lookups read, with the values that conditions and orders need. Lookups are answered from the
 * copies and not from the property index, so that a mistake of the index is found.
 */
import { keysOf, type LookupDemand, lookupSource } from '../actors/batch/lookup-source.ts';
import type { Source } from '../config/configuration.ts';
import { stateAt } from '../contract/publish-times.ts';
import { portions } from '../lib/portions.ts';
import { entriesOf, type LookupLayout, project } from '../schemas/lookup/layout.ts';
import type { LookupCandidate } from '../schemas/lookup/lookup-query.ts';
import { LayoutStates } from '../store/configuration/layouts.ts';
import { readEntities, scanOriginIds } from '../store/entities/entities.ts';
import { readOwner } from '../store/partitions/owners.ts';
import type { Store } from '../store/store.ts';
import { type CandidateSource, IndexedCandidates } from './read-only-lookups.ts';

/** A larger source is answered from the property index in Redis. */
const entitiesMax = 300_000;
/** Comparisons of an entity with a condition for one source, before its lookups are answered by key in memory. */
const fullComparisonsMax = 50_000_000;
const entitiesPerRead = 100;

interface Snapshot {
  readonly candidates: LookupCandidate[];
  readonly byKey: Map<string, LookupCandidate[]>;
  comparisons: number;
}

interface AddedPortion {
  readonly tenant: string;
  readonly sourceId: string;
  readonly layout: LookupLayout;
  /** The time: what is not published then is not seen. */
  readonly clockMs: number;
}

export class SourceSnapshots implements CandidateSource {
  readonly #snapshots = new Map<string, Promise<Snapshot | null>>();
  readonly #indexed: IndexedCandidates;

  /** @param onNote is called where a shorter way than a full comparison had to be taken; a note may come several times */
  constructor(
    private readonly store: Store,
    private readonly onNote: (note: string) => void,
  ) {
    this.#indexed = new IndexedCandidates(store, LayoutStates.none);
  }

  layoutFor(demand: LookupDemand): LookupLayout | null {
    const source = lookupSource(demand);
    const layout = source === null ? null : (demand.tenant.lookupLayouts.get(source.id) ?? null);
    // Of what code asked for beyond what the configuration foresees, nothing is known yet.
    return layout !== null && demand.query.isAnsweredBy(layout) ? layout : null;
  }

  async candidates(
    demand: LookupDemand,
    source: Source,
    layout: LookupLayout,
  ): Promise<Iterable<LookupCandidate>> {
    const tenant = demand.tenant.alias;
    const name = `${tenant}:${source.id}:${layout.id}`;
    const loading = this.#snapshots.get(name) ?? this.#load(tenant, source.id, layout);
    this.#snapshots.set(name, loading);
    const snapshot = await loading;
    if (snapshot === null) return this.#indexed.candidates(demand, source, layout);
    snapshot.comparisons += snapshot.candidates.length;
    if (snapshot.comparisons <= fullComparisonsMax) return snapshot.candidates;
    this.onNote(
      `source ${source.id} has so many lookups over it that some were answered by key from a copy of its entities`,
    );
    return keysOf(demand).flatMap(({ lookupKey }) => snapshot.byKey.get(lookupKey) ?? []);
  }

  /** Null when there are too many entities. */
  async #load(tenant: string, sourceId: string, layout: LookupLayout): Promise<Snapshot | null> {
    const snapshot: Snapshot = { candidates: [], byKey: new Map(), comparisons: 0 };
    for (const partition of this.store.partitions.tags.keys()) {
      const { clockMs } = await readOwner(this.store, partition);
      for await (const originIds of scanOriginIds(this.store, partition, tenant, sourceId)) {
        await this.#add(snapshot, { tenant, sourceId, layout, clockMs }, originIds);
        if (snapshot.candidates.length <= entitiesMax) continue;
        this.onNote(
          `source ${sourceId} has more than ${entitiesMax.toLocaleString('en-US')} entities: its lookups were answered from the stored property index`,
        );
        return null;
      }
    }
    return snapshot;
  }

  async #add(
    { candidates, byKey }: Snapshot,
    { tenant, sourceId, layout, clockMs }: AddedPortion,
    originIds: readonly string[],
  ): Promise<void> {
    for (const portion of portions(originIds, entitiesPerRead)) {
      const refs = portion.map((originId) => ({ sourceId, originId }));
      for (const entity of await readEntities(this.store, tenant, refs)) {
        if (entity === null || stateAt(entity.times, clockMs) !== 'published') continue;
        const candidate = { originId: entity.originId, values: project(layout, entity) };
        candidates.push(candidate);
        for (const lookupKey of entriesOf(layout, entity)) {
          const ofKey = byKey.get(lookupKey);
          if (ofKey === undefined) byKey.set(lookupKey, [candidate]);
          else ofKey.push(candidate);
        }
      }
    }
  }
}
