/**
 * Processes a batch up to, but not including, its commit.
 *
 * All writes to other partitions happen here and are idempotent. After a crash at any line, the batch is repeated from the
 * checkpoint, which has not moved.
 */

import { setTimeout } from 'node:timers/promises';
import { batchWaitMs } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { ReferenceChanges, type ReferrerWrite, writeReferences } from '../../store/change-log/references.ts';
import type { RemovedViews } from '../../store/change-log/reported-views.ts';
import type { ClaimWrite } from '../../store/claims/claim-records.ts';
import { writeClaims } from '../../store/claims/claims.ts';
import { recordRuntimeLookups } from '../../store/configuration/layouts.ts';
import type { Suspect } from '../../store/derived/dependents.ts';
import { registerDependents } from '../../store/derived/lookups.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { keys } from '../../store/keys.ts';
import type { Caller, Lease } from '../../store/ownership/lease.ts';
import { type EntityWork, nameOfWork } from '../../store/partitions/intake.ts';
import { FencedError, StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import type { Histories } from '../../store/redis/replication.ts';
import type { EntityName } from '../../store/scopes.ts';
import type { Store } from '../../store/store.ts';
import type { DownstreamInvalidation } from '../../store/streams/changes-stream.ts';
import { AutoTypes } from './auto-types.ts';
import { BatchChanges, type NamedFields } from './batch-changes.ts';
import { typeWithoutRoom } from './batch-diagnostics.ts';
import type { Intents } from './batch-intents.ts';
import { buildTurns } from './build-turns.ts';
import type { CodeRuns } from './code-runs.ts';
import { Comparison } from './comparison.ts';
import { LookupSource } from './lookup-source.ts';
import type { Output } from './output.ts';
import { newEntries, publishTurns } from './publish.ts';
import { loadTurns, type Turn, type TurnBasis } from './turn.ts';
import { readReturningViews } from './view-history.ts';

/** Maximum number of references in a commit; more would block Redis for too long. */
const referencesPerCommit = 4000;

export interface BatchContext {
  readonly store: Store;
  readonly lease: Lease;
  readonly basis: TurnBasis;
  readonly autoFields: AutoFields;
  readonly intents: Intents;
  readonly namedFields: NamedFields;
  readonly removedViews: RemovedViews;
  readonly claimsPerCommit: number;
  readonly code: CodeRuns;
  /** How long the batch waits for code while replies arrive; absent for `batchWaitMs`. */
  readonly codeWaitMs?: number | undefined;
  /** Time of the batch, on Redis' clock. */
  readonly nowMs: number;
}

/** Everything that the commit stores and announces. */
export interface BatchResult {
  readonly turns: readonly Turn[];
  readonly changes: BatchChanges;
  /** Claims that the commit writes. */
  readonly claimWrites: readonly ClaimWrite[];
  /** References that the commit writes. */
  readonly references: ReferenceChanges;
  /** References that are removed after the commit. */
  readonly referencesAfter: readonly ReferrerWrite[];
  /** The last invalidations that the batch sent. */
  readonly downstream: readonly DownstreamInvalidation[];
}

/** Repeats the batch while a failover may have lost its effects. @throws FencedError, StoreUnavailableError */
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
 * Like `processBatch`, but skips entities whose turns fail because of a bug. Such an entity must not block the others of its
 * partition.
 * @throws FencedError, StoreUnavailableError
 */
export async function processFaultless(
  context: BatchContext,
  works: readonly EntityWork[],
  onError: (error: unknown) => void,
): Promise<BatchResult> {
  try {
    return await processBatch(context, works);
  } catch (error) {
    if (isOfStore(error)) throw error;
    return await processBatch(context, await faultlessWorks(context, works, error, onError));
  }
}

/**
 * @param batchError error of the whole batch
 * @returns works that do not fail on their own
 */
async function faultlessWorks(
  context: BatchContext,
  works: readonly EntityWork[],
  batchError: unknown,
  onError: (error: unknown) => void,
): Promise<EntityWork[]> {
  const faultless: EntityWork[] = [];
  let isReproduced = false;
  for (const work of works) {
    try {
      await processBatch(context, [work]);
      faultless.push(work);
    } catch (error) {
      if (isOfStore(error)) throw error;
      onError(error);
      isReproduced ||= String(error) === String(batchError);
    }
  }
  // Otherwise an error that cannot be reproduced with a single entity would be lost.
  if (!isReproduced) onError(batchError);
  return faultless;
}

function isOfStore(error: unknown): boolean {
  return error instanceof FencedError || error instanceof StoreUnavailableError;
}

async function tryBatch(
  context: BatchContext,
  barrier: ReplicationBarrier,
  works: readonly EntityWork[],
): Promise<BatchResult> {
  const { store, lease, basis, autoFields, intents, namedFields, removedViews, code, nowMs } = context;
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
    readReturningViews(removedViews, outputs),
    recordRuntimeLookups(
      store,
      lookups.unindexed.map(({ tenant, sourceGroup, query }) => ({
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
  for (const scope of changes.reported.shrinking) removedViews.forget(scope);

  const [claimsBefore, claimWrites] = mayGoWithCommit(context, changes.claimWrites)
    ? [[], changes.claimWrites]
    : [changes.claimWrites, []];
  // Dropped claims are noted too, because without a commit the record still lists them.
  const [referencesBefore, references, referencesAfter] = aroundCommit(context, changes);
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
  return { turns, changes, claimWrites, references, referencesAfter, downstream };
}

/** References to add before the commit, to write with it, and to remove after it. */
function aroundCommit(
  { store }: BatchContext,
  { references }: BatchChanges,
): readonly [before: ReferrerWrite[], withCommit: ReferenceChanges, after: ReferrerWrite[]] {
  const mayGoWithCommit = store.address.kind === 'single' && references.count <= referencesPerCommit;
  if (mayGoWithCommit) return [[], references, []];
  return [references.additions, new ReferenceChanges(), references.removals];
}

/**
 * On a single Redis, a commit can write to all partitions, and claims in it need no notes. Too many claims would block Redis
 * for too long, so they are written before the commit.
 */
function mayGoWithCommit({ store, claimsPerCommit }: BatchContext, writes: readonly ClaimWrite[]): boolean {
  return store.address.kind === 'single' && writes.length <= claimsPerCommit;
}

function intentOf({ scope, field, claim }: ClaimWrite): [EntityName, Suspect[]] {
  const { host, kind, view, display } = claim;
  const { sourceId, originId, alias } = view;
  const { tenant, environmentId } = scope;
  return [
    { tenant, sourceId, originId },
    [{ kind: 'claim', environmentId, alias, claimKind: kind, field, host, display }],
  ];
}

/** An owner can retry longer than a request, because no client waits for it. */
const attemptsMax = 10;
const pauseMs = 100;

/**
 * A barrier for replication in a cluster, where a failover can lose the last writes that a master acknowledged.
 *
 * Before a batch writes anything to other partitions, replicas confirm what it is based on: what it read, and its intents. Before
 * the commit, replicas confirm what it wrote to other partitions. So a failover loses at most a last commit, or effects of an
 * uncommitted batch. In both cases the batch is repeated from the checkpoint.
 */
class ReplicationBarrier {
  readonly #reached = new Set<string>();

  private constructor(
    private readonly store: Store,
    private readonly lease: Lease,
    /** Replication histories of all partitions when the batch began. */
    private readonly histories: Histories,
  ) {}

  /** Must be called before the batch writes anything. @throws StoreUnavailableError */
  static async open(store: Store, lease: Lease): Promise<ReplicationBarrier> {
    const { replication, partitions } = store;
    return new ReplicationBarrier(
      store,
      lease,
      await withRetries(() => replication.observe(partitions.tags)),
    );
  }

  /** The owner in whose name the batch writes to other partitions. */
  get caller(): Caller {
    const { partition, epoch, onlyIn = '' } = this.lease;
    return { partition, epoch, onlyIn, reached: this.#reached };
  }

  /** @throws FencedError if a failover may have lost writes of this partition; StoreUnavailableError */
  async confirmInside(): Promise<void> {
    const { tag, history } = this.lease;
    if (history === undefined) return;
    const isKept = await withRetries(() => this.store.replication.confirm(new Map([[tag, history]])));
    if (!isKept) throw new FencedError('a failover may have taken back what was done here');
  }

  /**
   * @returns false if effects may be lost, so the batch must be repeated
   * @throws StoreUnavailableError
   */
  confirmOutside(): Promise<boolean> {
    const reached = [...this.histories].filter(([tag]) => this.#reached.has(tag));
    return withRetries(() => this.store.replication.confirm(new Map(reached)));
  }
}

async function withRetries<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || attempt === attemptsMax) throw error;
    }
    await setTimeout(pauseMs);
  }
}
