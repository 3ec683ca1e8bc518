/**
 * Publishes changed entities to the lookup indexes and asks for the rebuilds that follow (contract section 4).
 * A rebuild never publishes, since lookups see entities only: so no rebuild triggers another.
 */
import { groupBy } from '../../lib/group-by.ts';
import { entriesOf, project } from '../../schemas/lookup/layout.ts';
import { formatDependent, parseDependent } from '../../store/derived/dependents.ts';
import { type IndexWrite, type LookupKey, touchKeys } from '../../store/derived/lookups.ts';
import type { LookupStanding } from '../../store/derived/processed-record.ts';
import type { Suspect } from '../../store/derived/suspects.ts';
import type { DownstreamInvalidation } from '../../store/partitions/announcement.ts';
import { invalidate } from '../../store/partitions/intake.ts';
import type { Caller } from '../../store/partitions/lease.ts';
import type { Store } from '../../store/store.ts';
import { buildersFor, buildInput } from './builder.ts';
import type { Turn } from './turn.ts';

/** Dependents of one stream entry: a portion of the stream holds at least one entry whole. */
const dependentsPerInvalidation = 1000;

/** Asked for more than once in a turn. */
const indexEntries = new WeakMap<Turn, readonly LookupStanding[]>();

const noEntries: readonly LookupStanding[] = [];

/** The entries of an entity in the lookup indexes of its source after this turn. */
export function indexEntriesOf(turn: Turn): readonly LookupStanding[] {
  const known = indexEntries.get(turn);
  if (known !== undefined) return known;
  const { layouts, entity } = turn;
  if (layouts.length === 0) return noEntries;
  const found = (entity === null ? [] : layouts).map((layout) => ({
    layoutId: layout.id,
    keys: entity === null ? [] : entriesOf(layout, entity),
  }));
  indexEntries.set(turn, found);
  return found;
}

/** Lookup entries that this turn is about to publish and that its processed record does not have. */
export function newEntries(turn: Turn): Suspect[] {
  if (turn.only !== null) return [];
  return indexEntriesOf(turn).flatMap(({ layoutId, keys }) => {
    const known = new Set(keysIn(turn.former?.lookups, layoutId));
    return keys
      .filter((lookupKey) => !known.has(lookupKey))
      .map((lookupKey) => ({ kind: 'lookup' as const, layoutId, lookupKey }));
  });
}

function keysIn(entries: readonly LookupStanding[] | undefined, layoutId: string): readonly string[] {
  return entries?.find((entry) => entry.layoutId === layoutId)?.keys ?? [];
}

/** The last invalidations sent, by tenant and partition. */
export class DownstreamInvalidations {
  readonly #last = new Map<string, DownstreamInvalidation>();

  note(tenant: string, partition: number, sequence: number): void {
    const key = `${tenant}:${partition}`;
    const known = this.#last.get(key);
    if (known === undefined || known.sequence < sequence) {
      this.#last.set(key, { tenant, partition, sequence });
    }
  }

  get list(): DownstreamInvalidation[] {
    return [...this.#last.values()];
  }
}

/** Does it for a whole batch. @throws FencedError, StoreUnavailableError */
export async function publishTurns(
  store: Store,
  caller: Caller,
  turns: readonly Turn[],
  downstream: DownstreamInvalidations,
): Promise<void> {
  const whole = turns.filter(({ only }) => only === null);
  for (const [tenant, ofTenant] of groupBy(whole, ({ tenantAlias }) => tenantAlias)) {
    const { writes, touched } = indexChanges(tenant, ofTenant);
    const asked = ofTenant.flatMap(actionDependents);
    if (writes.length === 0 && touched.length === 0 && asked.length === 0) continue;
    // Outputs of the same batch are built after this and see the change anyway.
    const inBatch = new Set(ofTenant.map(({ sourceId, originId }) => `${sourceId}:${originId}`));
    if (writes.length > 0 || touched.length > 0) {
      for await (const dependents of touchKeys(store, caller, writes, touched)) {
        await sendInvalidations(store, caller, tenant, dependents, inBatch, downstream);
      }
    }
    await sendInvalidations(store, caller, tenant, asked, inBatch, downstream);
  }
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
    const now = indexEntriesOf(turn);
    // An entity that comes under another layout is no change to those who look it up.
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
    const input = buildInput(place.tenant, entity, environmentId, () => []);
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

async function sendInvalidations(
  store: Store,
  caller: Caller,
  tenant: string,
  dependents: readonly string[],
  inBatch: ReadonlySet<string>,
  downstream: DownstreamInvalidations,
): Promise<void> {
  const byPartition = new Map<number, string[]>();
  for (const dependent of new Set(dependents)) {
    const parsed = parseDependent(dependent);
    if (parsed === null || inBatch.has(`${parsed.sourceId}:${parsed.originId}`)) continue;
    const partition = store.partitions.ofEntity(parsed.sourceId, parsed.originId);
    const group = byPartition.get(partition);
    if (group === undefined) byPartition.set(partition, [dependent]);
    else group.push(dependent);
  }
  await Promise.all(
    [...byPartition].map(async ([partition, group]) => {
      for (let at = 0; at < group.length; at += dependentsPerInvalidation) {
        const portion = group.slice(at, at + dependentsPerInvalidation);
        downstream.note(tenant, partition, await invalidate(store, caller, partition, tenant, portion));
      }
    }),
  );
}
