/** Iterates over the entities of a source, for lookups without an index, and to verify those with one. */
import type { StoredEntity } from '../contract/entity.ts';
import { stateAt } from '../contract/publish-times.ts';
import { entriesOf, type LookupCandidate, type LookupLayout, project } from '../schemas/lookup-layout.ts';
import { readEntities, scanOriginIds } from '../store/entities/entities.ts';
import { readOwner } from '../store/ownership/owners.ts';
import type { SourceRef } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';

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
