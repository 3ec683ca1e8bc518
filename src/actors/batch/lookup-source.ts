/**
 * Answers the lookups of a batch. Dependents are registered before the index is read: a change that this computation
 * does not see will find the registration and ask for a rebuild.
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
import { candidatePortions } from '../../store/derived/lookup-candidates.ts';
import { type LookupKey, registerDependents } from '../../store/derived/lookups.ts';
import { readEntities } from '../../store/entities/entities.ts';
import type { Caller } from '../../store/ownership/lease.ts';
import type { Store } from '../../store/store.ts';

/** Candidates of a portion that takes milliseconds. After it others have their turn. */
const largePortion = 500;
/** Lookups that run concurrently, so that their reads are sent together. */
const readsAtOnce = 500;
const largePortions = new Semaphore(1);

/** In each turn of the event loop one large portion is gone through, whichever batches ask. */
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
  /** The dependent that asks, as `formatDependent` writes it. */
  readonly dependent: string;
}

/** Where outputs get the results of their lookups from. */
export interface LookupAnswers {
  /** False while no whole index can answer the lookup. */
  isAnswerable(demand: LookupDemand): boolean;
  /** Undefined while the result is not known to this dependent. */
  known(demand: LookupDemand): readonly StoredEntity[] | undefined;
  /** Makes the results of all demands known. */
  resolve(demands: readonly LookupDemand[]): Promise<void>;
}

export class LookupSource implements LookupAnswers {
  /** Results of this batch by source and query: entities of a batch often ask the same. */
  readonly #results = new Map<string, readonly StoredEntity[]>();
  /** Dependent and query of every demand that was registered before its result was read. */
  readonly #registered = new Set<string>();
  /** Results that hold only the first of what matched. */
  readonly #cut = new Set<string>();
  /** Lookups without an index: code requested something that the configuration does not know. */
  readonly unforeseen: LookupDemand[] = [];

  constructor(
    private readonly store: Store,
    private readonly caller: Caller,
    private readonly layouts: LayoutStates,
  ) {}

  isAnswerable(demand: LookupDemand): boolean {
    if (lookupSource(demand) === null || wholeLayout(demand, this.layouts) !== null) return true;
    if (!isForeseen(demand) && !isBeyondLimit(demand)) this.unforeseen.push(demand);
    return false;
  }

  /** A result that this dependent may use: one that was read after the dependent was registered for it. */
  known(demand: LookupDemand): readonly StoredEntity[] | undefined {
    const key = resultKey(demand);
    if (key === null) return [];
    return this.#registered.has(`${demand.dependent} ${key}`) ? this.#results.get(key) : undefined;
  }

  /** Makes the results of all demands known. @throws FencedError, StoreUnavailableError */
  async resolve(demands: readonly LookupDemand[]): Promise<void> {
    await registerDependents(
      this.store,
      this.caller,
      demands.flatMap((demand) =>
        keysOf(demand).map((key) => ({ ...key, action: 'add' as const, member: demand.dependent })),
      ),
    );
    const asked = new Map<string, LookupDemand>();
    for (const demand of demands) {
      const key = resultKey(demand);
      if (key !== null) asked.set(key, demand);
    }
    for (const some of portions([...asked], readsAtOnce)) {
      await Promise.all(
        some.map(async ([key, demand]) => {
          this.#results.set(key, await this.#read(demand, key));
        }),
      );
    }
    for (const demand of demands) this.#registered.add(`${demand.dependent} ${resultKey(demand)}`);
  }

  /** True when more matched than a lookup may give (docs/reference/mapping-language.md "Lookups"). */
  isCut(demand: LookupDemand): boolean {
    const key = resultKey(demand);
    return key !== null && this.#cut.has(key);
  }

  async #read(demand: LookupDemand, key: string): Promise<readonly StoredEntity[]> {
    const { tenant, query } = demand;
    const source = lookupSource(demand);
    const layout = wholeLayout(demand, this.layouts);
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

/** True when the configuration has an index for the lookup, which may be incomplete. */
function isForeseen(demand: LookupDemand): boolean {
  const source = lookupSource(demand);
  const wanted = source === null ? undefined : demand.tenant.lookupLayouts.get(source.id);
  return wanted !== undefined && demand.query.isAnsweredBy(wanted);
}

/** True when code exceeds its tenant's number of lookup kinds. */
export function isBeyondLimit(demand: LookupDemand): boolean {
  return (
    lookupSource(demand) !== null && !isForeseen(demand) && demand.tenant.askedLookups >= runtimeLookupsMax
  );
}

/** The layout that answers the lookup: a complete one, of any configuration. */
export function wholeLayout(demand: LookupDemand, layouts: LayoutStates): LookupLayout | null {
  const source = lookupSource(demand);
  if (source === null) return null;
  const whole = layouts.wholeOf({ tenant: demand.tenant.alias, sourceId: source.id });
  return whole !== null && demand.query.isAnsweredBy(whole) ? whole : null;
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

/** The source that a lookup reads; null when its source group has none in the environment. */
export function lookupSource({ tenant, environmentId, sourceGroup, query }: LookupDemand): Source | null {
  return tenant.sourceIn(query.sourceGroup ?? sourceGroup, environmentId);
}

/** Null when the source group has no source in the environment: then the result is empty. */
export function resultKey(demand: LookupDemand): string | null {
  const source = lookupSource(demand);
  return source === null ? null : `${demand.tenant.alias}:${source.id}:${demand.query.id}`;
}
