/**
 * In-memory copies of the sources that lookups read, with the values for conditions and orders. Lookups use the copies instead
 * of the property index, so that errors in the index are found.
 */

import { keysOf, type LookupDemand, lookupSource } from '../actors/batch/lookup-source.ts';
import type { Source } from '../config/configuration.ts';
import { grouped } from '../lib/message-text.ts';
import type { LookupCandidate, LookupLayout } from '../schemas/lookup-layout.ts';
import { LayoutStates } from '../store/configuration/layouts.ts';
import type { Store } from '../store/store.ts';
import {
  CandidateCopy,
  type CandidateSource,
  IndexedCandidates,
  publishedPortions,
} from './read-only-lookups.ts';

/** Lookups over a larger source use the property index in Redis. */
const entitiesMax = 300_000;
/** Maximum number of comparisons of entities with conditions per source; beyond it, lookups use keys in memory. */
const fullComparisonsMax = 50_000_000;
const entitiesPerRead = 100;

interface Snapshot {
  readonly copy: CandidateCopy;
  comparisons: number;
}

export class SourceSnapshots implements CandidateSource {
  readonly #snapshots = new Map<string, Promise<Snapshot | null>>();
  readonly #indexed: IndexedCandidates;

  /** @param onNote called when lookups were not fully compared; a note may repeat */
  constructor(
    private readonly store: Store,
    private readonly onNote: (note: string) => void,
  ) {
    this.#indexed = new IndexedCandidates(store, LayoutStates.none);
  }

  layoutFor(demand: LookupDemand): LookupLayout | null {
    const source = lookupSource(demand);
    const layout = source === null ? null : (demand.tenant.lookupLayouts.get(source.id) ?? null);
    // Lookups that code requests at run time may not be in the layout yet.
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

  /** Null if there are too many entities. */
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
        `source ${sourceId} has more than ${grouped(entitiesMax)} entities: its lookups were answered from the stored property index`,
      );
      return null;
    }
    return snapshot;
  }
}
