/**
 * Processes the mailboxes of a batch up to, not including, the commit.
 *
 * Everything outside the partition happens here and is idempotent: a crash at any line is repaired by doing the
 * batch again from the checkpoint, which has not moved.
 */

import { type ClaimWrite, writeClaims } from '../../store/claims/claims.ts';
import type { DigestList } from '../../store/codec/digest.ts';
import type { ItemChange } from '../../store/derived/item-sink.ts';
import { registerDependents } from '../../store/derived/lookups.ts';
import type { Suspect } from '../../store/derived/suspects.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { keys } from '../../store/keys.ts';
import type { DownstreamInvalidation } from '../../store/partitions/announcement.ts';
import type { HashWrites } from '../../store/partitions/hash-writes.ts';
import type { Lease } from '../../store/partitions/lease.ts';
import type { Store } from '../../store/store.ts';
import type { NamedFields } from '../named-fields.ts';
import { Assembly, type BatchCounts } from './assembly.ts';
import { typeWithoutRoom } from './diagnostics.ts';
import type { IntentOwner, Intents } from './intents.ts';
import { AutoTypes } from './items.ts';
import { LookupSource } from './lookup-source.ts';
import { buildOutputs, outputsOf } from './output.ts';
import { DownstreamInvalidations, newEntries, publishTurns } from './publish.ts';
import { ReplicationBarrier } from './replication-barrier.ts';
import { type Basis, loadTurns } from './turn.ts';
import type { EntityWork } from './work.ts';

export interface BatchContext {
  readonly store: Store;
  readonly lease: Lease;
  readonly basis: Basis;
  readonly autoFields: AutoFields;
  readonly intents: Intents;
  readonly namedFields: NamedFields;
  readonly claimsPerCommit: number;
}

/** What the commit has to store and to tell. */
export interface BatchResult {
  readonly writes: HashWrites;
  /** Those that have not been put: they move with the commit. */
  readonly claimWrites: readonly ClaimWrite[];
  readonly itemChanges: ItemChange[];
  /** Digests of what requests can see changed. */
  readonly digests: DigestList;
  /** The last invalidations that it sent. */
  readonly downstream: readonly DownstreamInvalidation[];
  readonly counts: BatchCounts;
}

/** @throws FencedError, StoreUnavailableError */
export async function processBatch(
  context: BatchContext,
  works: readonly EntityWork[],
): Promise<BatchResult> {
  for (;;) {
    const barrier = await ReplicationBarrier.open(context.store, context.lease);
    const result = await tryBatch(context, barrier, works);
    if (await barrier.confirmOutside()) return result;
  }
}

async function tryBatch(
  context: BatchContext,
  barrier: ReplicationBarrier,
  works: readonly EntityWork[],
): Promise<BatchResult> {
  const { store, lease, basis, autoFields, intents, namedFields } = context;
  intents.begin();
  namedFields.begin();
  const turns = await loadTurns(store, lease.tag, basis, works, intents);
  const downstream = new DownstreamInvalidations();
  await intents.note(turns.map((turn) => [turn, newEntries(turn)]));
  await barrier.confirmInside();
  await publishTurns(store, barrier.caller, turns, downstream);

  const asked = outputsOf(turns);
  const autoTypes = new AutoTypes();
  await autoTypes.decide(autoFields, asked);
  const outputs = asked.filter((output) => autoTypes.admits(output));
  const lookups = new LookupSource(store, barrier.caller, basis.layouts);
  await buildOutputs(outputs, lookups);

  const assembly = new Assembly(lease.tag, autoTypes, lookups, namedFields);
  assembly.addTurns(turns, outputs);
  assembly.countFindings(asked.filter((output) => !autoTypes.admits(output)).map(typeWithoutRoom));

  const { writes, itemChanges, digests, counts } = assembly;
  const [claimsBefore, claimWrites] = mayGoWithCommit(context, assembly.claimWrites)
    ? [[], assembly.claimWrites]
    : [assembly.claimWrites, []];
  // Of dropped claims too: without a commit the record goes on saying that they are there.
  await intents.note(claimsBefore.map(intentOf));
  if (claimsBefore.length > 0) await barrier.confirmInside();
  await Promise.all([
    writeClaims(store, barrier.caller, claimsBefore),
    registerDependents(store, barrier.caller, assembly.unregistrations),
  ]);
  for (const field of intents.settledBy(turns)) writes.delete(keys.intents(lease.tag), field);
  return { writes, claimWrites, itemChanges, digests, downstream: downstream.list, counts };
}

/**
 * On one Redis a commit reaches all partitions, and claims that move with it need no notes. Many would keep Redis from
 * everything else for too long.
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
