/**
 * Resolves lookups of outputs that are not stored, without registering dependents or writing anything: from an index, or from a
 * copy of the entities of a source.
 */
import {
  completeLayout,
  keysOf,
  type LookupAnswers,
  type LookupDemand,
  lookupSource,
  resultKey,
} from '../actors/batch/lookup-source.ts';
import type { Source } from '../config/configuration.ts';
import type { StoredEntity } from '../contract/entity.ts';
import { stateAt } from '../contract/publish-times.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import { entriesOf, type LookupCandidate, type LookupLayout, project } from '../schemas/lookup-layout.ts';
import type { LayoutStates } from '../store/configuration/layouts.ts';
import { readCandidates } from '../store/derived/lookups.ts';
import { readEntities, scanOriginIds } from '../store/entities/entities.ts';
import { readOwner } from '../store/ownership/owners.ts';
import type { SourceRef } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';

/** A source of candidates, which include every match. */
export interface CandidateSource {
  /** The layout of the candidates' values; null if the lookup cannot be resolved. */
  layoutFor(demand: LookupDemand): LookupLayout | null;
  candidates(demand: LookupDemand, source: Source, layout: LookupLayout): Promise<Iterable<LookupCandidate>>;
}

/** Candidates from the property index in Redis, as in workers. */
export class IndexedCandidates implements CandidateSource {
  constructor(
    private readonly store: Store,
    private readonly layouts: LayoutStates,
  ) {}

  layoutFor(demand: LookupDemand): LookupLayout | null {
    return completeLayout(demand, this.layouts);
  }

  candidates(demand: LookupDemand, _: Source, layout: LookupLayout): Promise<LookupCandidate[]> {
    return readCandidates(this.store, layout.id, keysOf(demand));
  }
}

const answersMax = 2000;

interface Result {
  readonly entities: readonly StoredEntity[];
  readonly matched: number;
  readonly isCut: boolean;
}

interface Answer extends Omit<Result, 'entities'> {
  readonly sourceId: string;
  readonly originIds: readonly string[];
}

export class ReadOnlyLookups implements LookupAnswers {
  /** Only ids: the entities of all queries of a run would not fit into memory. */
  readonly #answers = new BoundedCache<string, Answer>({ entriesMax: answersMax });
  /** Results of the current portion. */
  readonly #results = new Map<string, Result>();

  /** @param previewed lookups find it as if it were stored so and published; absent: only what is */
  constructor(
    private readonly store: Store,
    private readonly source: CandidateSource,
    private readonly previewed: StoredEntity | null = null,
  ) {}

  /** Clears the entities of the previous portion. */
  beginPortion(): void {
    this.#results.clear();
  }

  isAnswerable(demand: LookupDemand): boolean {
    return lookupSource(demand) === null || this.source.layoutFor(demand) !== null;
  }

  known(demand: LookupDemand): readonly StoredEntity[] | undefined {
    const key = resultKey(demand);
    return key === null ? [] : this.#results.get(key)?.entities;
  }

  isCut(demand: LookupDemand): boolean {
    return this.#results.get(resultKey(demand) ?? '')?.isCut ?? false;
  }

  /** Number of entities that match the condition of a resolved demand, at most `lookupResultsMax`. */
  matched(demand: LookupDemand): number {
    return this.#results.get(resultKey(demand) ?? '')?.matched ?? 0;
  }

  async resolve(demands: readonly LookupDemand[]): Promise<void> {
    const asked = new Map(demands.map((demand) => [resultKey(demand), demand]));
    for (const [key, demand] of asked) {
      if (key === null || this.#results.has(key)) continue;
      const { sourceId, originIds, matched, isCut } = await this.#answer(key, demand);
      const refs = originIds.map((originId) => ({ sourceId, originId }));
      const stored = await readEntities(this.store, demand.tenant.alias, refs);
      const entities = stored.flatMap((entity, at) => this.#inPlaceOf(sourceId, originIds[at], entity) ?? []);
      this.#results.set(key, { entities, matched, isCut });
    }
  }

  #inPlaceOf(
    sourceId: string,
    originId: string | undefined,
    stored: StoredEntity | null,
  ): StoredEntity | null {
    const { previewed } = this;
    return previewed?.sourceId === sourceId && previewed.originId === originId ? previewed : stored;
  }

  async #answer(key: string, demand: LookupDemand): Promise<Answer> {
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = await this.#find(demand);
    this.#answers.set(key, answer);
    return answer;
  }

  async #find(demand: LookupDemand): Promise<Answer> {
    const source = lookupSource(demand);
    const layout = this.source.layoutFor(demand);
    if (source === null || layout === null) return { sourceId: '', originIds: [], matched: 0, isCut: false };
    const stored = await this.source.candidates(demand, source, layout);
    const candidates = this.#withPreviewed(demand, source, layout, stored);
    const { originIds, matched, cut } = demand.query.select(layout, candidates);
    return { sourceId: source.id, originIds, matched, isCut: cut };
  }

  #withPreviewed(
    demand: LookupDemand,
    source: Source,
    layout: LookupLayout,
    stored: Iterable<LookupCandidate>,
  ): Iterable<LookupCandidate> {
    const { previewed } = this;
    if (previewed?.sourceId !== source.id) return stored;
    const copy = new CandidateCopy(layout);
    copy.add(previewed);
    const others = [...stored].filter(({ originId }) => originId !== previewed.originId);
    return [...others, ...copy.of(keysOf(demand))];
  }
}

export interface SourceWalk extends SourceRef {
  /** Number of entities in the next portion; may wait. */
  nextSize(): number | Promise<number>;
  /** Called before a portion is read; may throw to end the walk. */
  spend(entities: number): void;
}

/** Portions of the currently published entities. @throws StoreUnavailableError */
export async function* publishedPortions(
  store: Store,
  { tenant, sourceId, nextSize, spend }: SourceWalk,
): AsyncGenerator<readonly StoredEntity[]> {
  for (const partition of store.partitions.tags.keys()) {
    const { clockMs } = await readOwner(store, partition);
    for await (const ids of scanOriginIds(store, partition, tenant, sourceId)) {
      for (let at = 0; at < ids.length; ) {
        const originIds = ids.slice(at, at + (await nextSize()));
        at += originIds.length;
        spend(originIds.length);
        const refs = originIds.map((originId) => ({ sourceId, originId }));
        const entities = (await readEntities(store, tenant, refs)).filter((entity) => entity !== null);
        yield entities.filter(({ times }) => stateAt(times, clockMs) === 'published');
      }
    }
  }
}

/** Candidates in memory, also by lookup key, as in an index. */
export class CandidateCopy {
  readonly all: LookupCandidate[] = [];
  readonly #byKey = new Map<string, LookupCandidate[]>();

  /** @param wanted only entities with one of these keys are kept; null: all */
  constructor(
    private readonly layout: LookupLayout,
    private readonly wanted: ReadonlySet<string> | null = null,
  ) {}

  add(entity: StoredEntity): void {
    const keys = entriesOf(this.layout, entity).filter((key) => this.wanted?.has(key) ?? true);
    if (this.wanted !== null && keys.length === 0) return;
    const candidate = { originId: entity.originId, values: project(this.layout, entity) };
    this.all.push(candidate);
    for (const key of keys) {
      const ofKey = this.#byKey.get(key);
      if (ofKey === undefined) this.#byKey.set(key, [candidate]);
      else ofKey.push(candidate);
    }
  }

  of(keys: readonly { readonly lookupKey: string }[]): LookupCandidate[] {
    return keys.flatMap(({ lookupKey }) => this.#byKey.get(lookupKey) ?? []);
  }
}
