/**
 * Copies of the sources that lookups read, with the values that conditions and orders need. Lookups are answered from the
 * copies and not from the property index, so that a mistake of the index is found.
 */
import { keysOf, type LookupDemand, lookupSource } from '../actors/batch/lookup-source.ts';
import type { Source } from '../config/configuration.ts';
import type { LookupCandidate, LookupLayout } from '../schemas/lookup-layout.ts';
import { LayoutStates } from '../store/configuration/layouts.ts';
import type { Store } from '../store/store.ts';
import { type CandidateSource, IndexedCandidates } from './read-only-lookups.ts';
import { CandidateCopy, publishedPortions } from './source-walk.ts';

/** A larger source is answered from the property index in Redis. */
const entitiesMax = 300_000;
/** Comparisons of an entity with a condition for one source, before its lookups are answered by key in memory. */
const fullComparisonsMax = 50_000_000;
const entitiesPerRead = 100;

interface Snapshot {
  readonly copy: CandidateCopy;
  comparisons: number;
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
    snapshot.comparisons += snapshot.copy.all.length;
    if (snapshot.comparisons <= fullComparisonsMax) return snapshot.copy.all;
    this.onNote(
      `source ${source.id} has so many lookups over it that some were answered by key from a copy of its entities`,
    );
    return snapshot.copy.of(keysOf(demand));
  }

  /** Null when there are too many entities. */
  async #load(tenant: string, sourceId: string, layout: LookupLayout): Promise<Snapshot | null> {
    const snapshot: Snapshot = { copy: new CandidateCopy(layout), comparisons: 0 };
    const walk = publishedPortions(this.store, {
      tenant,
      sourceId,
      nextSize: () => entitiesPerRead,
      spend() {},
    });
    for await (const entities of walk) {
      for (const entity of entities) snapshot.copy.add(entity);
      if (snapshot.copy.all.length <= entitiesMax) continue;
      this.onNote(
        `source ${sourceId} has more than ${entitiesMax.toLocaleString('en-US')} entities: its lookups were answered from the stored property index`,
      );
      return null;
    }
    return snapshot;
  }
}
