/**
 * Resolves the lookups of a batch. Dependents are registered before the index is read, so a change that the read misses finds
 * the registration and requests a rebuild.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Source, Tenant } from '../../config/configuration.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import { runtimeLookupsMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { portions } from '../../lib/lists.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import type { LookupLayout, LookupQuery } from '../../schemas/lookup-layout.ts';
import type { LayoutStates } from '../../store/configuration/layouts.ts';
import { candidatePortions, type LookupKey, registerDependents } from '../../store/derived/lookups.ts';
import { readEntities } from '../../store/entities/entities.ts';
import type { Caller } from '../../store/ownership/lease.ts';
import type { Store } from '../../store/store.ts';

/** Portions with this many candidates take milliseconds, and yield to other work afterwards. */
const largePortion = 500;
/** Number of concurrent lookups, so that their reads are pipelined. */
const readsAtOnce = 500;
const largePortions = new Semaphore(1);

/** Processes at most one large portion per turn of the event loop, over all batches. */
async function inTurn(work: () => void): Promise<void> {
  const release = await largePortions.acquire();
  try {
    work();
    await nextTurn();
  } finally {
    release();
  }
}

export interface LookupDemand {
  readonly tenant: Tenant;
  readonly environmentId: string;
  readonly sourceGroup: string;
  readonly query: LookupQuery;
  /** The dependent that makes the lookup, from `formatDependent`. */
  readonly dependent: string;
}

/** A source of lookup results. */
export interface LookupAnswers {
  /** False while no complete index can answer the lookup. */
  isAnswerable(demand: LookupDemand): boolean;
  /** Undefined while this dependent has no result. */
  known(demand: LookupDemand): readonly StoredEntity[] | undefined;
  /** Loads the results of all demands. */
  resolve(demands: readonly LookupDemand[]): Promise<void>;
}

export class LookupSource implements LookupAnswers {
  /** Results of this batch by source and query, because entities of a batch often make the same lookup. */
  readonly #results = new Map<string, readonly StoredEntity[]>();
  /** Dependent and query of each demand that was registered before its result was read. */
  readonly #registered = new Set<string>();
  /** Truncated results. */
  readonly #cut = new Set<string>();
  /** Lookups without an index, which code requested at run time. */
  readonly unindexed: LookupDemand[] = [];

  constructor(
    private readonly store: Store,
    private readonly caller: Caller,
    private readonly layouts: LayoutStates,
  ) {}

  isAnswerable(demand: LookupDemand): boolean {
    if (lookupSource(demand) === null || completeLayout(demand, this.layouts) !== null) return true;
    if (!hasConfiguredIndex(demand) && !isBeyondLimit(demand)) this.unindexed.push(demand);
    return false;
  }

  /** The result, if it was read after this dependent was registered for it. */
  known(demand: LookupDemand): readonly StoredEntity[] | undefined {
    const key = resultKey(demand);
    if (key === null) return [];
    return this.#registered.has(`${demand.dependent} ${key}`) ? this.#results.get(key) : undefined;
  }

  /** Loads the results of all demands. @throws FencedError, StoreUnavailableError */
  async resolve(demands: readonly LookupDemand[]): Promise<void> {
    await registerDependents(
      this.store,
      this.caller,
      demands.flatMap((demand) =>
        keysOf(demand).map((key) => ({ ...key, action: 'add' as const, member: demand.dependent })),
      ),
    );
    const unique = new Map<string, LookupDemand>();
    for (const demand of demands) {
      const key = resultKey(demand);
      if (key !== null) unique.set(key, demand);
    }
    for (const some of portions([...unique], readsAtOnce)) {
      await Promise.all(
        some.map(async ([key, demand]) => {
          this.#results.set(key, await this.#read(demand, key));
        }),
      );
    }
    for (const demand of demands) this.#registered.add(`${demand.dependent} ${resultKey(demand)}`);
  }

  /** True if more entities matched than a lookup may return (docs/reference/mapping-language.md "Lookups"). */
  isCut(demand: LookupDemand): boolean {
    const key = resultKey(demand);
    return key !== null && this.#cut.has(key);
  }

  async #read(demand: LookupDemand, key: string): Promise<readonly StoredEntity[]> {
    const { tenant, query } = demand;
    const source = lookupSource(demand);
    const layout = completeLayout(demand, this.layouts);
    assert(source !== null && layout !== null, 'an index answers each lookup that is asked');
    const selection = query.selection(layout);
    for await (const { size, candidates } of candidatePortions(this.store, layout.id, keysOf(demand))) {
      if (size < largePortion) selection.add(candidates);
      else await inTurn(() => selection.add(candidates));
    }
    const { originIds, cut } = selection.result();
    if (cut) this.#cut.add(key);
    const refs = originIds.map((originId) => ({ sourceId: source.id, originId }));
    const entities = await readEntities(this.store, tenant.alias, refs);
    return entities.filter((entity) => entity !== null);
  }
}

/** True if the configuration has an index for the lookup, which may be incomplete. */
function hasConfiguredIndex(demand: LookupDemand): boolean {
  const source = lookupSource(demand);
  const wanted = source === null ? undefined : demand.tenant.lookupLayouts.get(source.id);
  return wanted !== undefined && demand.query.isAnsweredBy(wanted);
}

/** True if the lookup exceeds the number of runtime lookups of its tenant. */
export function isBeyondLimit(demand: LookupDemand): boolean {
  return (
    lookupSource(demand) !== null &&
    !hasConfiguredIndex(demand) &&
    demand.tenant.runtimeLookupCount >= runtimeLookupsMax
  );
}

/** The complete layout, of any configuration, that answers the lookup. */
export function completeLayout(demand: LookupDemand, layouts: LayoutStates): LookupLayout | null {
  const source = lookupSource(demand);
  if (source === null) return null;
  const complete = layouts.completeOf({ tenant: demand.tenant.alias, sourceId: source.id });
  return complete !== null && demand.query.isAnsweredBy(complete) ? complete : null;
}

/** The keys that a demand's lookup reads. */
export function keysOf(demand: LookupDemand): LookupKey[] {
  const source = lookupSource(demand);
  if (source === null) return [];
  return demand.query.keys.map((lookupKey) => ({
    tenant: demand.tenant.alias,
    sourceId: source.id,
    lookupKey,
  }));
}

/** The source that a lookup reads; null if its source group has none in the environment. */
export function lookupSource({ tenant, environmentId, sourceGroup, query }: LookupDemand): Source | null {
  return tenant.sourceIn(query.sourceGroup ?? sourceGroup, environmentId);
}

/** Null if the source group has no source in the environment; the result is empty then. */
export function resultKey(demand: LookupDemand): string | null {
  const source = lookupSource(demand);
  return source === null ? null : `${demand.tenant.alias}:${source.id}:${demand.query.id}`;
}
