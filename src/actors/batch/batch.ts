/**
 * Processes the mailboxes of a batch up to, not including, the commit.
 *
 * Everything outside the partition happens here and is idempotent: a crash at any line is repaired by doing the
 * batch again from the checkpoint, which has not moved.
 */

import { batchWaitMs } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { ReferenceChanges, type ReferrerWrite, writeReferences } from '../../store/change-log/references.ts';
import type { ClaimWrite } from '../../store/claims/claim-records.ts';
import { writeClaims } from '../../store/claims/claims.ts';
import { noteRuntimeLookups } from '../../store/configuration/layouts.ts';
import type { Suspect } from '../../store/derived/dependents.ts';
import { registerDependents } from '../../store/derived/lookups.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { keys } from '../../store/keys.ts';
import type { Lease } from '../../store/ownership/lease.ts';
import { type EntityWork, nameOfWork } from '../../store/partitions/intake.ts';
import { FencedError, StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import type { Store } from '../../store/store.ts';
import type { DownstreamInvalidation } from '../../store/streams/announcement.ts';
import type { NamedFields } from '../named-fields.ts';
import { AutoTypes } from './auto-types.ts';
import { BatchChanges } from './batch-changes.ts';
import { typeWithoutRoom } from './batch-diagnostics.ts';
import type { IntentOwner, Intents } from './batch-intents.ts';
import { buildTurns } from './build-turns.ts';
import type { CodeRuns } from './code-runs.ts';
import { Comparison } from './comparison.ts';
import { LookupSource } from './lookup-source.ts';
import type { Output } from './output.ts';
import { newEntries, publishTurns } from './publish.ts';
import { ReplicationBarrier } from './replication-barrier.ts';
import { loadTurns, type Turn, type TurnBasis } from './turn.ts';
import { readReturningViews } from './view-history.ts';

/** The most references that move with a commit: more would block Redis for too long. */
const referencesPerCommit = 4000;

export interface BatchContext {
  readonly store: Store;
  readonly lease: Lease;
  readonly basis: TurnBasis;
  readonly autoFields: AutoFields;
  readonly intents: Intents;
  readonly namedFields: NamedFields;
  readonly claimsPerCommit: number;
  readonly code: CodeRuns;
  /** How long the batch waits for code while replies come; absent: `batchWaitMs`. */
  readonly codeWaitMs?: number | undefined;
  /** The time of the batch, by Redis' clock. */
  readonly nowMs: number;
}

/** What the commit has to store and to tell. */
export interface BatchResult {
  readonly turns: readonly Turn[];
  readonly changes: BatchChanges;
  /** Claims that move with the commit. */
  readonly claimWrites: readonly ClaimWrite[];
  /** References that move with the commit. */
  readonly references: ReferenceChanges;
  /** References that are taken away behind the commit. */
  readonly referencesBehind: readonly ReferrerWrite[];
  /** The last invalidations that the batch sent. */
  readonly downstream: readonly DownstreamInvalidation[];
}

/** Does the batch again while a failover may have lost its effects. @throws FencedError, StoreUnavailableError */
export async function processBatch(
  context: BatchContext,
  works: readonly EntityWork[],
): Promise<BatchResult> {
  assert(new Set(works.map(nameOfWork)).size === works.length, 'an entity has one turn in a batch');
  for (;;) {
    const barrier = await ReplicationBarrier.open(context.store, context.lease);
    const result = await tryBatch(context, barrier, works);
    if (await barrier.confirmOutside()) return result;
  }
}

/**
 * As `processBatch`, but leaves out entities whose turns fail by a mistake of ours. One such entity must not hold up the
 * others of its partition. @throws FencedError, StoreUnavailableError
 */
export async function processSound(
  context: BatchContext,
  works: readonly EntityWork[],
  onTrouble: (error: unknown) => void,
): Promise<BatchResult> {
  try {
    return await processBatch(context, works);
  } catch (error) {
    if (isOfStore(error)) throw error;
    return await processBatch(context, await soundOf(context, works, error, onTrouble));
  }
}

/** @param whole error of all works together @returns works whose turns do not fail alone */
async function soundOf(
  context: BatchContext,
  works: readonly EntityWork[],
  whole: unknown,
  onTrouble: (error: unknown) => void,
): Promise<EntityWork[]> {
  const sound: EntityWork[] = [];
  let comesBack = false;
  for (const work of works) {
    try {
      await processBatch(context, [work]);
      sound.push(work);
    } catch (error) {
      if (isOfStore(error)) throw error;
      onTrouble(error);
      comesBack ||= String(error) === String(whole);
    }
  }
  // An error that comes back from none of them alone would be lost.
  if (!comesBack) onTrouble(whole);
  return sound;
}

function isOfStore(error: unknown): boolean {
  return error instanceof FencedError || error instanceof StoreUnavailableError;
}

async function tryBatch(
  context: BatchContext,
  barrier: ReplicationBarrier,
  works: readonly EntityWork[],
): Promise<BatchResult> {
  const { store, lease, basis, autoFields, intents, namedFields, code, nowMs } = context;
  intents.begin();
  code.begin(context.codeWaitMs);
  namedFields.begin(basis.configuration);
  const turns = await loadTurns(store, lease.tag, basis, works, nowMs, intents);
  await intents.note(turns.map((turn) => [turn, newEntries(turn)]));
  await barrier.confirmInside();
  const { downstream, deferred } = await publishTurns(store, barrier.caller, turns, code);

  const lookups = new LookupSource(store, barrier.caller, basis.layouts);
  const decided = (asked: readonly Output[]) => AutoTypes.decide(autoFields, asked);
  const { outputs, withoutRoom, autoTypes } = await buildTurns(turns, lookups, code, decided, batchWaitMs);
  const [returning] = await Promise.all([
    readReturningViews(store, lease.tag, outputs),
    noteRuntimeLookups(
      store,
      lookups.unforeseen.map(({ tenant, sourceGroup, query }) => ({
        tenant: tenant.alias,
        sourceGroup: query.sourceGroup ?? sourceGroup,
        plan: query.plan,
      })),
    ),
  ]);
  const changes = new BatchChanges(lease.tag, namedFields);
  changes.deferred.push(...deferred);
  await new Comparison(changes, autoTypes, lookups, returning).compareTurns(turns, outputs);
  changes.countFindings(withoutRoom.map(typeWithoutRoom));

  const [claimsBefore, claimWrites] = mayGoWithCommit(context, changes.claimWrites)
    ? [[], changes.claimWrites]
    : [changes.claimWrites, []];
  // Dropped claims are noted too: without a commit the record goes on saying that they are there.
  const [referencesBefore, references, referencesBehind] = aroundCommit(context, changes);
  await intents.note(claimsBefore.map(intentOf));
  if (claimsBefore.length > 0) await barrier.confirmInside();
  await Promise.all([
    writeClaims(store, barrier.caller, claimsBefore),
    registerDependents(store, barrier.caller, changes.unregistrations),
    writeReferences(store, barrier.caller, referencesBefore),
  ]);
  for (const field of intents.settledBy(turns)) {
    changes.writes.delete(keys.intents(lease.tag), field);
  }
  return { turns, changes, claimWrites, references, referencesBehind, downstream };
}

/** References that are put before the commit, those that move with it, and those that are taken away behind it. */
function aroundCommit(
  { store }: BatchContext,
  { references }: BatchChanges,
): readonly [before: ReferrerWrite[], withCommit: ReferenceChanges, behind: ReferrerWrite[]] {
  const mayGoWithCommit = store.address.kind === 'single' && references.count <= referencesPerCommit;
  if (mayGoWithCommit) return [[], references, []];
  return [references.additions, new ReferenceChanges(), references.removals];
}

/**
 * On one Redis a commit reaches all partitions, and claims that move with it need no notes. Very many claims go before
 * the commit: in one call they would block Redis for too long.
 */
function mayGoWithCommit({ store, claimsPerCommit }: BatchContext, writes: readonly ClaimWrite[]): boolean {
  return store.address.kind === 'single' && writes.length <= claimsPerCommit;
}

function intentOf({ scope, field, claim }: ClaimWrite): [IntentOwner, Suspect[]] {
  const { host, kind, view, display } = claim;
  const { sourceId, originId, alias } = view;
  const { tenant: tenantAlias, environmentId } = scope;
  return [
    { tenantAlias, sourceId, originId },
    [{ kind: 'claim', environmentId, alias, claimKind: kind, field, host, display }],
  ];
}
