/** Finds the dependents of a view: views that refer to it, and views whose lookups matched its entity. */
import { builderOf } from '../../actors/batch/builder.ts';
import { completeLayout, type LookupDemand, lookupSource } from '../../actors/batch/lookup-source.ts';
import { buildOutputs, Output } from '../../actors/batch/output.ts';
import { turnsNow } from '../../actors/batch/turn.ts';
import type { Configuration, Environment, Tenant } from '../../config/configuration.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import { formatViewId, type ViewRef } from '../../contract/ids.ts';
import { dependentsExplainedMax, dependentsListedMax, referrersCountedMax } from '../../contract/limits.ts';
import { referrersOf } from '../../feed/shown-on.ts';
import { groupBy } from '../../lib/lists.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { project } from '../../schemas/lookup-layout.ts';
import { LogReader } from '../../store/change-log/entries.ts';
import type { LayoutStates } from '../../store/configuration/layouts.ts';
import { type Dependent, parseDependent } from '../../store/derived/dependents.ts';
import { readDependents } from '../../store/derived/lookups.ts';
import type { ProcessedOutput, ProcessedRecord } from '../../store/derived/processed-record.ts';
import { wholeTurn } from '../../store/partitions/intake.ts';
import type { Store } from '../../store/store.ts';
import { IndexedCandidates, ReadOnlyLookups } from '../../verify/read-only-lookups.ts';

export interface ExplainRequest {
  readonly configuration: Configuration;
  readonly tenant: Tenant;
  readonly environment: Environment;
  readonly view: ViewRef;
}

/** The inputs of an explanation. */
export interface Explained extends ExplainRequest {
  readonly store: Store;
  readonly entity: StoredEntity;
  readonly record: ProcessedRecord;
  readonly output: ProcessedOutput;
  readonly layouts: LayoutStates;
  readonly sandbox: Sandbox;
}

interface Dependents {
  readonly total: number;
  /** Ids of the first dependents. */
  readonly views: readonly string[];
}

/** The views that refer to the view directly. @throws StoreUnavailableError */
export async function shownBy({ store, tenant, environment, view }: Explained): Promise<Dependents> {
  const log = new LogReader(store, { tenant: tenant.alias, environmentId: environment.id });
  const own = formatViewId(view);
  const views: string[] = [];
  let total = 0;
  for await (const { view: referrer } of referrersOf(store, log, view)) {
    const id = formatViewId({ environmentId: environment.id, ...referrer });
    if (id === own) continue;
    total += 1;
    if (views.length < dependentsListedMax) views.push(id);
    if (total >= referrersCountedMax) break;
  }
  return { total, views: views.sort() };
}

/**
 * The views whose lookups matched the entity. Views that read one of its lookup keys are rebuilt, up to a limit; the rest may
 * match or not, and are counted.
 * @throws StoreUnavailableError
 */
export async function lookedUpBy(explained: Explained): Promise<Dependents> {
  const { store, tenant, environment, view, record } = explained;
  const own = formatViewId(view);
  const readers = new Map<string, Dependent>();
  for (const lookupKey of new Set(record.lookups.flatMap(({ keys }) => keys))) {
    const key = { tenant: tenant.alias, sourceId: view.sourceId, lookupKey };
    for (const member of await readDependents(store, key, referrersCountedMax)) {
      const dependent = parseDependent(member);
      if (dependent?.kind !== 'view' || dependent.environmentId !== environment.id) continue;
      const id = formatViewId({ ...dependent, alias: dependent.name });
      if (id !== own) readers.set(id, dependent);
    }
  }
  const ordered = [...readers].sort(([a], [b]) => (a < b ? -1 : 1));
  const looked = ordered.slice(0, dependentsExplainedMax);
  const matching = await matchingViews(explained, looked);
  return {
    total: matching.length + ordered.length - looked.length,
    views: matching.slice(0, dependentsListedMax),
  };
}

/** Ids of the views that match the entity when rebuilt now. */
async function matchingViews(
  explained: Explained,
  readers: readonly (readonly [id: string, Dependent])[],
): Promise<string[]> {
  const { store, configuration, tenant, environment, layouts, sandbox } = explained;
  const lookups = new ReadOnlyLookups(store, new IndexedCandidates(store, layouts));
  const byPartition = groupBy(readers, ([, { sourceId, originId }]) =>
    store.partitions.ofEntity(sourceId, originId),
  );
  const matching: string[] = [];
  for (const [partition, group] of byPartition) {
    const works = group.map(([, { sourceId, originId }]) =>
      wholeTurn({ tenant: tenant.alias, sourceId, originId }),
    );
    const turns = await turnsNow(store, partition, { configuration, layouts }, works);
    const outputs = group.flatMap(([id, { sourceId, originId, name }]) => {
      const turn = turns.find((one) => one.sourceId === sourceId && one.originId === originId);
      const schema = tenant.schemas.get(name);
      if (turn === undefined || schema === undefined) return [];
      return [{ id, output: new Output(turn, builderOf(tenant, environment.id, { kind: 'full', schema })) }];
    });
    await buildOutputs(
      outputs.map(({ output }) => output),
      lookups,
      sandbox,
    );
    for (const { id, output } of outputs) {
      if (output.demands.some((demand) => matches(explained, demand))) matching.push(id);
    }
  }
  return matching.sort();
}

/** True if the condition of a lookup matches the entity, regardless of `top`. */
function matches({ view, entity, layouts }: Explained, demand: LookupDemand): boolean {
  const layout = completeLayout(demand, layouts);
  if (layout === null || lookupSource(demand)?.id !== view.sourceId) return false;
  const candidate = { originId: view.originId, values: project(layout, entity) };
  return demand.query.select(layout, [candidate]).matched > 0;
}
