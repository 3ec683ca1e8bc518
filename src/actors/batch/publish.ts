/**
 * Publishes changed entities to the lookup indexes and requests the rebuilds that follow
 * (docs/reference/mapping-language.md "Schema files"). A rebuild publishes nothing, because lookups only read entities. So no
 * rebuild triggers another.
 */

import type { StoredEntity } from '../../contract/entity.ts';
import type { EntityRef } from '../../contract/ids.ts';
import { stringified } from '../../contract/large-json/stringify-in-parts.ts';
import { sliceMs } from '../../contract/limits.ts';
import { type Steps, Suspended } from '../../lib/cooperative-yield.ts';
import { groupBy, portions } from '../../lib/lists.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { type LookupLayout, project } from '../../schemas/lookup-layout.ts';
import type { FullSchema, ResolvedAction } from '../../schemas/schema.ts';
import { formatDependent, parseDependent, type Suspect } from '../../store/derived/dependents.ts';
import { type IndexWrite, type LookupKey, touchKeys } from '../../store/derived/lookups.ts';
import type { IndexEntries } from '../../store/derived/processed-record.ts';
import type { Caller } from '../../store/ownership/lease.ts';
import { invalidate } from '../../store/partitions/intake.ts';
import type { Store } from '../../store/store.ts';
import type { DownstreamInvalidation } from '../../store/streams/changes-stream.ts';
import { type DeferredOutput, deferredOutput } from './batch-changes.ts';
import { type CodeSandbox, makeCalls } from './code-replies.ts';
import { inputWithoutLookups } from './output.ts';
import type { Turn } from './turn.ts';

/** Lookup entries that this turn will publish and that are not in its processed record. */
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
 * Publishes the changes of a batch.
 * @returns the last invalidations that it sent, and actions deferred because code was too slow
 * @throws FencedError, StoreUnavailableError
 */
export async function publishTurns(
  store: Store,
  caller: Caller,
  turns: readonly Turn[],
  sandbox: CodeSandbox,
): Promise<{ downstream: DownstreamInvalidation[]; deferred: DeferredOutput[] }> {
  const downstream = new DownstreamInvalidations(store, caller);
  const deferred: DeferredOutput[] = [];
  const publishing = turns.filter((turn) => turn.only === null || turn.actions.size > 0);
  for (const [tenant, ofTenant] of groupBy(publishing, ({ tenant }) => tenant)) {
    const whole = ofTenant.filter(({ only }) => only === null);
    const { writes, touched } = await new Slice(sliceMs).run(indexChanges(tenant, whole));
    const acting = ofTenant.filter(mayAct);
    const acts = await Promise.all(acting.map((turn) => actionDependents(turn, sandbox)));
    const asked = acts.flatMap(({ dependents }) => dependents);
    deferred.push(...acts.flatMap((act) => act.deferred));
    if (writes.length === 0 && touched.length === 0 && asked.length === 0) continue;
    // Outputs of the same batch are built after this and see the change anyway.
    const inBatch = new Set(whole.map(({ sourceId, originId }) => `${sourceId}:${originId}`));
    if (writes.length > 0 || touched.length > 0) {
      for await (const round of touchKeys(store, caller, writes, touched)) {
        const caused = round.flatMap(({ key, members }) =>
          members.map((member): [string, EntityRef] => [member, key.cause]),
        );
        await downstream.send(tenant, new Map(caused), inBatch);
      }
    }
    await downstream.send(tenant, new Map(asked), inBatch);
  }
  return { downstream: downstream.list, deferred };
}

/** A lookup key whose entries change, and the last entity that changes them. */
interface CausedKey extends LookupKey {
  readonly cause: EntityRef;
}

interface IndexChanges {
  readonly writes: IndexWrite[];
  readonly touched: CausedKey[];
}

/** In steps, because the projection of an entity can be megabytes. */
function* indexChanges(tenant: string, turns: readonly Turn[]): Steps<IndexChanges> {
  const writes: IndexWrite[] = [];
  const touched = new Map<string, CausedKey>();
  for (const turn of turns) {
    const { sourceId, originId } = turn;
    const touch = (lookupKey: string) =>
      touched.set(`${sourceId}:${lookupKey}`, {
        tenant,
        sourceId,
        lookupKey,
        cause: { sourceId, originId },
      });
    for (const suspect of turn.repair ?? []) {
      if (suspect.kind !== 'lookup') continue;
      writes.push(entryOf(turn, suspect.layoutId, suspect.lookupKey, null));
      touch(suspect.lookupKey);
    }
    const isChange = turn.isChange || turn.repair !== null;
    const formers = turn.former?.lookups ?? [];
    const now = turn.indexEntries;
    // A change of layout is not a change for the dependents.
    if (isChange) for (const { keys } of [...formers, ...now]) for (const key of keys) touch(key);
    for (const { layoutId, keys } of formers) {
      const stays = new Set(keysIn(now, layoutId));
      for (const key of keys) if (!stays.has(key)) writes.push(entryOf(turn, layoutId, key, null));
    }
    for (const { layoutId, keys } of now) {
      const isThere = formers.some((former) => former.layoutId === layoutId);
      const layout = turn.layouts.find(({ id }) => id === layoutId);
      if ((isThere && !isChange) || layout === undefined || turn.entity === null) continue;
      const projection = yield* projectionOf(layout, turn.entity);
      for (const key of keys) writes.push(entryOf(turn, layoutId, key, projection));
    }
  }
  return { writes, touched: [...touched.values()] };
}

function* projectionOf(layout: LookupLayout, entity: StoredEntity): Steps<string> {
  const values = project(layout, entity);
  const text = entity.isLarge === true ? stringified(values) : JSON.stringify(values);
  return text instanceof Suspended ? yield* text.steps : text;
}

function entryOf(
  { tenant, sourceId, originId }: Turn,
  layoutId: string,
  lookupKey: string,
  projection: string | null,
): IndexWrite {
  return { tenant, sourceId, lookupKey, originId, layoutId, projection };
}

/** A cheap check, because few schemas have actions. */
function mayAct({ place, entity, state, isChange, actions }: Turn): boolean {
  if (place === null || entity === null || state !== 'published') return false;
  if (!isChange && actions.size === 0) return false;
  return place.tenant.schemasFor(place.source.sourceGroup, entity.type).some(({ hasActions }) => hasActions);
}

interface Acts {
  readonly dependents: readonly [string, EntityRef][];
  readonly deferred: readonly DeferredOutput[];
}

/** The dependents that the `actions` of the schemas request when the entity changes. */
async function actionDependents(turn: Turn, sandbox: CodeSandbox): Promise<Acts> {
  const { place, entity, sourceId, originId } = turn;
  const dependents = new Set<string>();
  const deferred: DeferredOutput[] = [];
  for (const { id: environmentId } of place?.source.environments ?? []) {
    for (const schema of place?.tenant.schemasFor(place.source.sourceGroup, entity?.type ?? '') ?? []) {
      const name = formatDependent({
        kind: 'actions',
        environmentId,
        name: schema.alias,
        sourceId,
        originId,
      });
      if (!schema.hasActions || !(turn.isChange || turn.actions.has(name))) continue;
      const actions = await actionsOf(turn, schema, environmentId, name, sandbox);
      if (actions === null) deferred.push({ ...deferredOutput(turn, name, 'code'), isAwaited: true });
      for (const action of actions ?? []) dependents.add(dependentOfAction(action, environmentId));
    }
  }
  return { dependents: [...dependents].map((dependent) => [dependent, { sourceId, originId }]), deferred };
}

/** Null if code did not reply in time. */
async function actionsOf(
  { place, entity, tenant }: Turn,
  schema: FullSchema,
  environmentId: string,
  name: string,
  sandbox: CodeSandbox,
): Promise<readonly ResolvedAction[] | null> {
  if (place === null || entity === null) return [];
  const asker = `${tenant}|${name}`;
  const { input, replies, texts } = inputWithoutLookups(place.tenant, entity, environmentId, asker);
  let actions = schema.actions(input);
  for (; texts.isWanted; actions = schema.actions(input)) await new Slice(sliceMs).run(texts.make());
  const calls = replies.take();
  if (calls.length === 0) return actions;
  await makeCalls(sandbox, calls);
  return replies.isLate ? null : schema.actions(input);
}

function dependentOfAction({ sourceId, originId, alias }: ResolvedAction, environmentId: string): string {
  return alias === null
    ? formatDependent({ kind: 'entity', environmentId: '', name: '', sourceId, originId })
    : formatDependent({ kind: 'view', environmentId, name: alias, sourceId, originId });
}

/** Maximum number of dependents per stream entry, because a portion of the stream contains at least one whole entry. */
const dependentsPerInvalidation = 1000;

interface Caused {
  readonly dependent: string;
  readonly cause: EntityRef | null;
}

/** Requests the rebuilds that a batch's changes require, in all partitions. */
export class DownstreamInvalidations {
  /** The last invalidation sent, by tenant and partition. */
  readonly #last = new Map<string, DownstreamInvalidation>();

  constructor(
    private readonly store: Store,
    private readonly caller: Caller,
  ) {}

  get list(): DownstreamInvalidation[] {
    return [...this.#last.values()];
  }

  /**
   * @param dependents with the entity whose change invalidates each; null if unknown
   * @param inBatch `<source>:<origin>` of entities that this batch builds later anyway
   * @throws FencedError, StoreUnavailableError
   */
  async send(
    tenant: string,
    dependents: ReadonlyMap<string, EntityRef | null>,
    inBatch: ReadonlySet<string>,
  ): Promise<void> {
    const byPartition = new Map<number, Caused[]>();
    for (const [dependent, cause] of dependents) {
      const parsed = parseDependent(dependent);
      if (parsed === null || inBatch.has(`${parsed.sourceId}:${parsed.originId}`)) continue;
      const partition = this.store.partitions.ofEntity(parsed.sourceId, parsed.originId);
      const group = byPartition.get(partition);
      const caused = { dependent, cause };
      if (group === undefined) byPartition.set(partition, [caused]);
      else group.push(caused);
    }
    await Promise.all([...byPartition].map(([partition, group]) => this.#sendTo(tenant, partition, group)));
  }

  async #sendTo(tenant: string, partition: number, caused: readonly Caused[]): Promise<void> {
    const { store, caller } = this;
    for (const portion of portions(caused, dependentsPerInvalidation)) {
      const dependents = portion.map(({ dependent }) => dependent);
      const causes = portion.map(({ cause }) => cause);
      this.#note(tenant, partition, await invalidate(store, caller, partition, tenant, dependents, causes));
    }
  }

  #note(tenant: string, partition: number, sequence: number): void {
    const key = `${tenant}:${partition}`;
    const known = this.#last.get(key);
    if (known === undefined || known.sequence < sequence)
      this.#last.set(key, { tenant, partition, sequence });
  }
}
