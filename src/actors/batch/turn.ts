/** The turn of one entity in a batch: its current state, its previous outputs, and the requested work. */

import type { Configuration, Source, Tenant } from '../../config/configuration.ts';
import type { UrlForm } from '../../config/urls/url.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import type { EntityRef } from '../../contract/ids.ts';
import { sliceMs } from '../../contract/limits.ts';
import { laterState, type PublishState, stateAt } from '../../contract/publish-times.ts';
import { groupBy } from '../../lib/lists.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { entriesOf, entrySteps, type LookupLayout } from '../../schemas/lookup-layout.ts';
import type { LayoutStates } from '../../store/configuration/layouts.ts';
import { formatDependent, type Suspect } from '../../store/derived/dependents.ts';
import type { Intent } from '../../store/derived/intents.ts';
import { readProcessed } from '../../store/derived/processed.ts';
import {
  claimKey,
  type IndexEntries,
  type ProcessedClaim,
  type ProcessedOutput,
  type ProcessedRecord,
  processedState,
} from '../../store/derived/processed-record.ts';
import { readEntitiesIn } from '../../store/entities/entities.ts';
import { readOwner } from '../../store/ownership/owners.ts';
import type { EntityWork } from '../../store/partitions/intake.ts';
import type { EntityName } from '../../store/scopes.ts';
import type { Store } from '../../store/store.ts';
import type { Intents } from './batch-intents.ts';
import { outdatedDigest, outputKey, placeOf } from './builder.ts';

/** The configuration of a batch, which does not change during it. */
export interface TurnBasis {
  readonly configuration: Configuration;
  readonly layouts: LayoutStates;
}

/**
 * The effect of a turn depends on the entity, on the record of its last turn, and on the requested work:
 *
 * | entity | record        | asked   | the turn                                                                     |
 * | ------ | ------------- | ------- | ---------------------------------------------------------------------------- |
 * | there  | none          | any     | builds all outputs, publishes its index entries                              |
 * | there  | another stamp | all     | the same; removes what the record has besides                                |
 * | there  | another stamp | a part  | builds the part; the record keeps its stamp, for the change is in the stream |
 * | there  | same stamp    | all     | builds all outputs; index entries move only to other layouts                 |
 * | there  | same stamp    | a part  | builds the part                                                              |
 * | gone   | any           | any     | removes all outputs and the record                                           |
 * | any    | any           | repair  | as all, and writes what is there already; removes what the repair names      |
 *
 * An unpublished entity counts as there, but has no outputs and no index entries. If the schedule has changed its state since
 * its record, the turn is for all, and a change.
 */
export interface Turn extends EntityName {
  /** Null if the source is no longer configured. */
  readonly place: { readonly tenant: Tenant; readonly source: Source } | null;
  /** Lookup layouts that are maintained for its source. */
  readonly layouts: readonly LookupLayout[];
  /** The form of its URL claims. */
  readonly urlForm: UrlForm;
  /** Null if the entity was deleted. */
  readonly entity: StoredEntity | null;
  readonly former: ProcessedRecord | null;
  /** Its entries in the lookup indexes of its source, after this turn. */
  readonly indexEntries: readonly IndexEntries[];
  /** Dependents to rebuild; null for everything. */
  readonly only: ReadonlySet<string> | null;
  /** Pending actions of schemas, from `formatDependent`. */
  readonly actions: ReadonlySet<string>;
  /** Not null for a repair: writes everything, and removes these suspects unless they are current outputs. */
  readonly repair: readonly Suspect[] | null;
  /** True if a batch without a commit may have moved claims of its views. Everything that it builds is reported then. */
  readonly isUncertain: boolean;
  /** Dependent -> the entity whose change causes its rebuild, if known. */
  readonly causes: ReadonlyMap<string, EntityRef>;
  /** True if the entity has changed since it was last processed. */
  readonly isChange: boolean;
  /** The publication state of the entity at the time of the turn. */
  readonly state: PublishState;
  /** True if the schedule caused this state, and not a save. */
  readonly isBySchedule: boolean;
  /** Schedule times that requested the turn. */
  readonly moments: readonly number[];
}

const noIntents = { of: () => null };
const noCauses: ReadonlyMap<string, EntityRef> = new Map();
const noActions: ReadonlySet<string> = new Set();
const noEntries: readonly IndexEntries[] = [];
const noMoments: readonly number[] = [];

/**
 * Loads the turns of a batch.
 * @param nowMs time on Redis' clock
 * @throws StoreUnavailableError
 */
export async function loadTurns(
  store: Store,
  tag: string,
  { configuration, layouts }: TurnBasis,
  works: readonly EntityWork[],
  nowMs: number,
  intents: Pick<Intents, 'of'> = noIntents,
): Promise<Turn[]> {
  const groups = groupBy(works, ({ tenant, sourceId }) => `${tenant}:${sourceId}`);
  const turns = await Promise.all(
    [...groups.values()].map(async (group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { tenant, sourceId } = first;
      const originIds = group.map(({ originId }) => originId);
      const [entities, records] = await Promise.all([
        readEntitiesIn(store, tag, tenant, sourceId, originIds),
        readProcessed(store, tag, tenant, sourceId, originIds),
      ]);
      const place = placeOf(configuration, first);
      const wanted = place?.tenant.lookupLayouts.get(sourceId) ?? null;
      const kept = layouts.keptOf(first, wanted);
      const { written: urlForm } = layouts.urlFormsOf(tenant);
      const ofGroup: Turn[] = [];
      for (const [index, work] of group.entries()) {
        const entity = entities[index] ?? null;
        const turn = turnOf(
          work,
          intents.of(work),
          { place, layouts: kept, urlForm },
          entity,
          records[index] ?? null,
          nowMs,
        );
        // A partial turn does not change the entity's index entries.
        const moves = turn.only === null && entity !== null && turn.state === 'published' && kept.length > 0;
        ofGroup.push(moves ? { ...turn, indexEntries: await indexEntriesOf(kept, entity) } : turn);
      }
      return ofGroup;
    }),
  );
  return turns.flat();
}

/** The turns of entities of a partition as of now, to inspect them. @throws StoreUnavailableError */
export async function turnsNow(
  store: Store,
  partition: number,
  basis: TurnBasis,
  works: readonly EntityWork[],
): Promise<Turn[]> {
  const { clockMs } = await readOwner(store, partition);
  return await loadTurns(store, store.partitions.tag(partition), basis, works, clockMs);
}

/** Uncommitted effects in other partitions are treated like a repair. */
function withIntent(work: EntityWork, intent: Intent | null): EntityWork {
  return intent === null ? work : { ...work, only: null, repair: [...(work.repair ?? []), ...intent] };
}

function turnOf(
  asked: EntityWork,
  intent: Intent | null,
  { place, layouts, urlForm }: Pick<Turn, 'place' | 'layouts' | 'urlForm'>,
  entity: StoredEntity | null,
  former: ProcessedRecord | null,
  nowMs: number,
): Turn {
  const work = withIntent(asked, intent);
  const state = stateOf(work, entity, former, nowMs);
  const isSame = former !== null && former.stamp === entity?.stamp;
  const hasMoved = former !== null && processedState(former) !== state;
  // Without a record or an entity, a partial rebuild is impossible.
  const isWhole = work.only === null || former === null || entity === null || hasMoved;
  const only = isWhole ? null : work.only;
  return {
    tenant: work.tenant,
    sourceId: work.sourceId,
    originId: work.originId,
    place,
    layouts,
    urlForm,
    entity,
    former,
    indexEntries: noEntries,
    only: only && new Set(only.map(formatDependent)),
    actions: work.actions === undefined ? noActions : new Set(work.actions.map(formatDependent)),
    repair: work.repair,
    causes: work.causes ?? noCauses,
    isUncertain: intent !== null,
    isChange: former?.stamp !== entity?.stamp || (isSame && hasMoved),
    state,
    isBySchedule: isSame && (hasMoved || former.times?.isBySchedule === true),
    moments: work.moments ?? noMoments,
  };
}

/**
 * A saved entity goes through its states once, in order, even if Redis' clock is set back: a published entity stays published.
 * A repair does not trust the record.
 */
function stateOf(
  { repair }: EntityWork,
  entity: StoredEntity | null,
  former: ProcessedRecord | null,
  nowMs: number,
): PublishState {
  const state = stateAt(entity?.times, nowMs);
  if (repair !== null || former === null || former.stamp !== entity?.stamp) return state;
  return laterState(processedState(former), state);
}

async function indexEntriesOf(
  layouts: readonly LookupLayout[],
  entity: StoredEntity,
): Promise<readonly IndexEntries[]> {
  if (entity.isLarge !== true) {
    return layouts.map((layout) => ({ layoutId: layout.id, keys: entriesOf(layout, entity) }));
  }
  const slice = new Slice(sliceMs);
  const entries: IndexEntries[] = [];
  for (const layout of layouts) {
    entries.push({ layoutId: layout.id, keys: await slice.run(entrySteps(layout, entity)) });
  }
  return entries;
}

const nothing: ReadonlyMap<string, ProcessedOutput> = new Map();

/** Former outputs by `outputKey`, including the outputs and claims that a repair suspects. */
export function formerOutputs({ former, repair }: Turn): ReadonlyMap<string, ProcessedOutput> {
  if (former === null && repair === null) return nothing;
  const outputs = new Map(former?.outputs.map((output) => [outputKey(output), output]));
  for (const suspect of repair ?? []) {
    if (suspect.kind === 'lookup') continue;
    const output = suspectedOutput(suspect);
    const known = outputs.get(outputKey(output));
    // The rest of the record is unchanged. A current claim is dropped first and then put again.
    const claims = [...(known?.claims ?? []), ...output.claims];
    const unique = new Map(claims.reverse().map((claim) => [claimKey(claim), claim]));
    outputs.set(outputKey(output), { ...(known ?? output), claims: [...unique.values()] });
  }
  return outputs;
}

function suspectedOutput(suspect: Exclude<Suspect, { kind: 'lookup' }>): ProcessedOutput {
  const none = { schemaDigest: outdatedDigest, bytesDigest: Buffer.alloc(0), claims: [], dependsOn: [] };
  const { environmentId } = suspect;
  if (suspect.kind !== 'claim') return { ...none, kind: suspect.kind, environmentId, name: suspect.name };
  const { alias, claimKind, field, host, display } = suspect;
  const claim: ProcessedClaim = { field, host, kind: claimKind, sinceStamp: 0, display, redirect: null };
  return { ...none, kind: 'view', environmentId, name: alias, claims: [claim] };
}
