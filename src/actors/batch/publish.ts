/**
 * Publishes changed entities to the lookup indexes and asks for the rebuilds that follow
 * (docs/reference/mapping-language.md "Schema files"). A rebuild never publishes, since lookups see entities only: so no
 * rebuild triggers another.
 */
import { groupBy } from '../../lib/group-by.ts';
import { project } from '../../schemas/lookup/layout.ts';
import { formatDependent } from '../../store/derived/dependents.ts';
import { type IndexWrite, type LookupKey, touchKeys } from '../../store/derived/lookups.ts';
import type { IndexEntries } from '../../store/derived/processed-record.ts';
import type { Suspect } from '../../store/derived/suspects.ts';
import type { DownstreamInvalidation } from '../../store/partitions/announcement.ts';
import type { Caller } from '../../store/partitions/lease.ts';
import type { Store } from '../../store/store.ts';
import { buildersFor } from './builder.ts';
import { DownstreamInvalidations } from './downstream.ts';
import { TenantInput } from './output.ts';
import type { Turn } from './turn.ts';

/** Lookup entries that this turn is about to publish and that its processed record does not have. */
export function newEntries(turn: Turn): Suspect[] {
  return turn.indexEntries.flatMap(({ layoutId, keys }) => {
    const known = new Set(keysIn(turn.former?.lookups, layoutId));
    return keys
      .filter((lookupKey) => !known.has(lookupKey))
      .map((lookupKey) => ({ kind: 'lookup' as const, layoutId, lookupKey }));
  });
}

function keysIn(entries: readonly IndexEntries[] | undefined, layoutId: string): readonly string[] {
  return entries?.find((entry) => entry.layoutId === layoutId)?.keys ?? [];
}

/**
 * Publishes the changes of a whole batch. @returns the last invalidations that it sent. @throws FencedError,
 * StoreUnavailableError
 */
export async function publishTurns(
  store: Store,
  caller: Caller,
  turns: readonly Turn[],
): Promise<DownstreamInvalidation[]> {
  const downstream = new DownstreamInvalidations(store, caller);
  const whole = turns.filter(({ only }) => only === null);
  for (const [tenant, ofTenant] of groupBy(whole, ({ tenantAlias }) => tenantAlias)) {
    const { writes, touched } = indexChanges(tenant, ofTenant);
    const asked = ofTenant.flatMap(actionDependents);
    if (writes.length === 0 && touched.length === 0 && asked.length === 0) continue;
    // Outputs of the same batch are built after this and see the change anyway.
    const inBatch = new Set(ofTenant.map(({ sourceId, originId }) => `${sourceId}:${originId}`));
    if (writes.length > 0 || touched.length > 0) {
      for await (const dependents of touchKeys(store, caller, writes, touched)) {
        await downstream.send(tenant, dependents, inBatch);
      }
    }
    await downstream.send(tenant, asked, inBatch);
  }
  return downstream.list;
}

function indexChanges(
  tenant: string,
  turns: readonly Turn[],
): { writes: IndexWrite[]; touched: LookupKey[] } {
  const writes: IndexWrite[] = [];
  const touched = new Map<string, LookupKey>();
  for (const turn of turns) {
    const { sourceId } = turn;
    const touch = (lookupKey: string) =>
      touched.set(`${sourceId}:${lookupKey}`, { tenant, sourceId, lookupKey });
    for (const suspect of turn.repair ?? []) {
      if (suspect.kind !== 'lookup') continue;
      writes.push(entryOf(turn, suspect.layoutId, suspect.lookupKey, null));
      touch(suspect.lookupKey);
    }
    const isChange = turn.isChange || turn.repair !== null;
    const formers = turn.former?.lookups ?? [];
    const now = turn.indexEntries;
    // An entity that comes under another layout does not change for its dependents.
    if (isChange) for (const { keys } of [...formers, ...now]) for (const key of keys) touch(key);
    for (const { layoutId, keys } of formers) {
      const stays = new Set(keysIn(now, layoutId));
      for (const key of keys) if (!stays.has(key)) writes.push(entryOf(turn, layoutId, key, null));
    }
    for (const { layoutId, keys } of now) {
      const isThere = formers.some((former) => former.layoutId === layoutId);
      const layout = turn.layouts.find(({ id }) => id === layoutId);
      if ((isThere && !isChange) || layout === undefined || turn.entity === null) continue;
      const projection = JSON.stringify(project(layout, turn.entity));
      for (const key of keys) writes.push(entryOf(turn, layoutId, key, projection));
    }
  }
  return { writes, touched: [...touched.values()] };
}

function entryOf(
  { tenantAlias: tenant, sourceId, originId }: Turn,
  layoutId: string,
  lookupKey: string,
  projection: string | null,
): IndexWrite {
  return { tenant, sourceId, lookupKey, originId, layoutId, projection };
}

/** What the `actions` of the schemas ask to process when the entity changes. */
function actionDependents({ place, entity, isChange }: Turn): string[] {
  if (place === null || entity === null || !isChange) return [];
  const dependents = new Set<string>();
  for (const builder of buildersFor(place.tenant, place.source, entity.type)) {
    if (builder.kind !== 'view') continue;
    const { environmentId } = builder;
    const input = new TenantInput(place.tenant, entity, environmentId, () => []);
    for (const { sourceId, originId, alias } of builder.schema.actions(input)) {
      dependents.add(
        alias === null
          ? formatDependent({ kind: 'entity', environmentId: '', name: '', sourceId, originId })
          : formatDependent({ kind: 'view', environmentId, name: alias, sourceId, originId }),
      );
    }
  }
  return [...dependents];
}
