/**
 * Publishes changed entities to the lookup indexes and asks for the rebuilds that follow (contract section 4).
 * A rebuild never publishes, since lookups see entities only: so no rebuild triggers another.
 */
import { groupBy } from '../contract/group-by.ts';
import { entriesOf, project } from '../schemas/lookup-layout.ts';
import type { CausedMark } from '../store/commit.ts';
import { formatDependent, parseDependent } from '../store/dependents.ts';
import { markForRebuild } from '../store/intake.ts';
import type { Caller } from '../store/lease.ts';
import { type IndexWrite, type LookupKey, touchKeys } from '../store/lookups.ts';
import type { ProcessedRecord } from '../store/processed.ts';
import type { Store } from '../store/store.ts';
import type { Suspect } from '../store/suspects.ts';
import { buildInput, makersFor } from './maker.ts';
import type { Turn } from './turn.ts';

/** Members of one stream entry: a portion of the stream holds at least one entry whole. */
const membersPerMark = 1000;

/** Where an entity stands in its source's lookup indexes after this turn. */
export function standingOf({ place, entity, sourceId }: Turn): ProcessedRecord['lookup'] {
  const layout = place?.tenant.lookupLayouts.get(sourceId);
  if (layout === undefined || entity === null) return null;
  return { layoutId: layout.id, keys: entriesOf(layout, entity) };
}

/** Lookup entries that this turn is about to publish and that its processed record does not have. */
export function newEntries(turn: Turn): Suspect[] {
  const standing = turn.only === null ? standingOf(turn) : null;
  if (standing === null) return [];
  const { layoutId } = standing;
  const known = new Set(turn.former?.lookup?.layoutId === layoutId ? turn.former.lookup.keys : []);
  return standing.keys
    .filter((lookupKey) => !known.has(lookupKey))
    .map((lookupKey) => ({ kind: 'lookup', layoutId, lookupKey }));
}

/** Last marks sent, by tenant and partition. */
export class CausedMarks {
  readonly #marks = new Map<string, CausedMark>();

  note(tenant: string, partition: number, sequence: number): void {
    const key = `${tenant}:${partition}`;
    const known = this.#marks.get(key);
    if (known === undefined || known.sequence < sequence) {
      this.#marks.set(key, { tenant, partition, sequence });
    }
  }

  get list(): CausedMark[] {
    return [...this.#marks.values()];
  }
}

/** Does it for a whole batch. @throws FencedError, StoreUnavailableError */
export async function publishTurns(
  store: Store,
  caller: Caller,
  turns: readonly Turn[],
  caused: CausedMarks,
): Promise<void> {
  const whole = turns.filter(({ only }) => only === null);
  for (const [tenant, ofTenant] of groupBy(whole, ({ tenantAlias }) => tenantAlias)) {
    // What is built after this in the same batch sees the change anyway.
    const inBatch = new Set(ofTenant.map(({ sourceId, originId }) => `${sourceId}:${originId}`));
    const { writes, touched } = indexChanges(tenant, ofTenant);
    if (writes.length > 0 || touched.length > 0) {
      for await (const members of touchKeys(store, caller, writes, touched)) {
        await sendMarks(store, caller, tenant, members, inBatch, caused);
      }
    }
    await sendMarks(store, caller, tenant, ofTenant.flatMap(actionMembers), inBatch, caused);
  }
}

function indexChanges(
  tenant: string,
  turns: readonly Turn[],
): { writes: IndexWrite[]; touched: LookupKey[] } {
  const writes: IndexWrite[] = [];
  const touched = new Map<string, LookupKey>();
  for (const turn of turns) {
    const former = turn.former?.lookup ?? null;
    const standing = standingOf(turn);
    for (const suspect of turn.repair ?? []) {
      if (suspect.kind !== 'lookup') continue;
      const { layoutId, lookupKey } = suspect;
      const { sourceId, originId } = turn;
      writes.push({ tenant, sourceId, lookupKey, originId, layoutId, projection: null });
      touched.set(`${sourceId}:${lookupKey}`, { tenant, sourceId, lookupKey });
    }
    if (!turn.isChange && former?.layoutId === standing?.layoutId && turn.repair === null) continue;
    const { sourceId, originId, entity, place } = turn;
    const layout = place?.tenant.lookupLayouts.get(sourceId);
    const stays = new Set(standing?.layoutId === former?.layoutId ? standing?.keys : []);
    for (const lookupKey of former?.keys ?? []) {
      touched.set(`${sourceId}:${lookupKey}`, { tenant, sourceId, lookupKey });
      if (former === null || stays.has(lookupKey)) continue;
      writes.push({ tenant, sourceId, lookupKey, originId, layoutId: former.layoutId, projection: null });
    }
    if (standing === null || entity === null || layout === undefined) continue;
    const projection = JSON.stringify(project(layout, entity));
    for (const lookupKey of standing.keys) {
      touched.set(`${sourceId}:${lookupKey}`, { tenant, sourceId, lookupKey });
      writes.push({ tenant, sourceId, lookupKey, originId, layoutId: standing.layoutId, projection });
    }
  }
  return { writes, touched: [...touched.values()] };
}

/** What the `actions` of the schemas ask to process when the entity changes. */
function actionMembers({ place, entity, isChange }: Turn): string[] {
  if (place === null || entity === null || !isChange) return [];
  const members = new Set<string>();
  for (const maker of makersFor(place.tenant, place.source, entity.type)) {
    if (maker.kind !== 'view') continue;
    const { environmentId } = maker;
    const input = buildInput(place.tenant, entity, environmentId, () => []);
    for (const { sourceId, originId, alias } of maker.schema.actions(input)) {
      members.add(
        alias === null
          ? formatDependent({ kind: 'entity', environmentId: '', name: '', sourceId, originId })
          : formatDependent({ kind: 'view', environmentId, name: alias, sourceId, originId }),
      );
    }
  }
  return [...members];
}

async function sendMarks(
  store: Store,
  caller: Caller,
  tenant: string,
  members: readonly string[],
  inBatch: ReadonlySet<string>,
  caused: CausedMarks,
): Promise<void> {
  const byPartition = new Map<number, string[]>();
  for (const member of new Set(members)) {
    const dependent = parseDependent(member);
    if (dependent === null || inBatch.has(`${dependent.sourceId}:${dependent.originId}`)) continue;
    const partition = store.partitions.ofEntity(dependent.sourceId, dependent.originId);
    const group = byPartition.get(partition);
    if (group === undefined) byPartition.set(partition, [member]);
    else group.push(member);
  }
  await Promise.all(
    [...byPartition].map(async ([partition, group]) => {
      for (let at = 0; at < group.length; at += membersPerMark) {
        const portion = group.slice(at, at + membersPerMark);
        caused.note(tenant, partition, await markForRebuild(store, caller, partition, tenant, portion));
      }
    }),
  );
}
