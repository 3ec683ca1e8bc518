/**
 * What a processed record keeps of a view for the change feed: the last reported type, former claims, and the views that it
 * refers to. Former claims include those from before a removal, if the view is built again.
 */
import { normalizeUrl } from '../../config/urls/url.ts';
import type { EntityRef } from '../../contract/ids.ts';
import { formerClaimsMax } from '../../contract/limits.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { groupBy } from '../../lib/lists.ts';
import type { ReferencePiece } from '../../schemas/build/build-outcome.ts';
import { referenceText } from '../../store/change-log/references.ts';
import type { RemovedView, RemovedViews } from '../../store/change-log/reported-views.ts';
import {
  claimKey,
  type FormerClaim,
  isRestored,
  type ProcessedClaim,
  type ProcessedOutput,
} from '../../store/derived/processed-record.ts';
import { claimField, urlFormOfField } from '../../store/keys.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import type { BatchChanges } from './batch-changes.ts';
import {
  type Builder,
  dependentOf,
  isFormerDigest,
  type OutputName,
  outdatedDigest,
  outputKey,
} from './builder.ts';
import type { Output } from './output.ts';
import type { Turn } from './turn.ts';
import { sameClaim } from './view-claims.ts';

type History = Pick<ProcessedOutput, 'reportedType' | 'formerClaims'>;

const noHistory: History = {};
const noClaims: readonly FormerClaim[] = [];

/**
 * @param claims current claims of the view
 * @param isReported true if its entry in the change log is renewed
 * @param returning claims of the view before it was removed, if it comes back
 */
export function historyOf(
  { former: record, entity }: Pick<Turn, 'former' | 'entity'>,
  former: ProcessedOutput | null,
  claims: readonly ProcessedClaim[],
  isReported: boolean,
  returning: readonly FormerClaim[] = noClaims,
): History {
  if (former === null && returning.length === 0) return noHistory;
  const reportedType = former === null ? undefined : (former.reportedType ?? record?.type);
  const isStale =
    !isReported && entity !== null && reportedType !== undefined && reportedType !== entity.type;
  const hasMoved = isStale && former !== null && !sameClaims(former.claims, claims);
  const formerClaims = formerClaimsOf(former, claims, returning);
  if (!isStale && formerClaims.length === 0) return noHistory;
  return {
    ...(isStale && !hasMoved ? { reportedType } : {}),
    ...(formerClaims.length === 0 ? {} : { formerClaims }),
  };
}

function sameClaims(before: readonly ProcessedClaim[], now: readonly ProcessedClaim[]): boolean {
  const byKey = new Map(before.map((claim) => [claimKey(claim), claim]));
  return before.length === now.length && now.every((claim) => sameClaim(claim, byKey.get(claimKey(claim))));
}

/** Latest first. */
function formerClaimsOf(
  former: ProcessedOutput | null,
  claims: readonly ProcessedClaim[],
  returning: readonly FormerClaim[],
): FormerClaim[] {
  const before = [...(former?.claims ?? []), ...(former?.formerClaims ?? []), ...returning];
  if (before.length === 0) return [];
  const now = new Set(claims.map(writtenClaim));
  const given = new Map<string, FormerClaim>();
  for (const claim of before) {
    const key = writtenClaim(claim);
    if (!now.has(key) && !given.has(key)) given.set(key, formerClaim(claim));
  }
  return [...given.values()].slice(0, formerClaimsMax);
}

/** The same key for both URL forms, because a claim that only moved to the other form is not lost. */
function writtenClaim(claim: FormerClaim): string {
  return claimKey(
    urlFormOfField(claim.field) === 'folded' ? { ...claim, field: writtenField(claim) } : claim,
  );
}

function writtenField({ field, display }: FormerClaim): string {
  const path = normalizeUrl(display)?.path;
  return path === undefined ? field : claimField.url(path);
}

function formerClaim({ field, host, kind, display }: FormerClaim): FormerClaim {
  return { field, host, kind, display };
}

/** The last state of a view that is removed. */
export function removedView({ former: record, place }: Turn, former: ProcessedOutput): RemovedView {
  return {
    type: former.reportedType ?? record?.type ?? '',
    sourceGroup: place?.source.sourceGroup ?? '',
    claims: formerClaimsOf(former, [], noClaims),
    ...(former.destinations === undefined ? {} : { destinations: former.destinations }),
  };
}

type Cause = Pick<ProcessedOutput, 'because'>;

/** The cause of a build that changed nothing: that of the one before. */
export function causeBefore(former: ProcessedOutput | null): Cause {
  return former?.because === undefined ? {} : { because: former.because };
}

/** The cause of a build. Empty for a save of the entity itself, which is the most common. */
export function causeOf(turn: Turn, former: ProcessedOutput | null, builder: Builder): Cause {
  if (turn.repair !== null) return { because: { kind: 'repair' } };
  if (isRestored(turn.former)) return { because: { kind: 'restore' } };
  if (turn.isChange) return ownCause(turn);
  const entity = turn.causes.get(dependentOf(builder, turn));
  const recorded = former?.schemaDigest ?? outdatedDigest;
  // A deferred output is built after the turn of the change, so the digest in its record does not show if the configuration
  // changed.
  const isUnknown = recorded === outdatedDigest || isFormerDigest(recorded);
  if (isUnknown && entity !== undefined) return becauseOf(turn, entity);
  if (recorded !== builder.schemaDigest) return { because: { kind: 'configuration' } };
  return entity === undefined ? { because: { kind: 'lookup' } } : becauseOf(turn, entity);
}

/** The cause if the entity itself has changed, by a save or by the schedule. */
function ownCause({ isBySchedule }: Turn): Cause {
  return isBySchedule ? { because: { kind: 'schedule' } } : {};
}

/** A cause with the entity itself is its own deferred change. */
function becauseOf(turn: Turn, entity: EntityRef): Cause {
  const isOwn = entity.sourceId === turn.sourceId && entity.originId === turn.originId;
  return isOwn ? ownCause(turn) : { because: { kind: 'lookup', entity } };
}

/** Claims from before the removal, for outputs that build a view again. */
export type ReturningViews = ReadonlyMap<Output, readonly FormerClaim[]>;

/**
 * @param removedViews those of the partition of all outputs
 * @throws StoreUnavailableError
 */
export async function readReturningViews(
  removedViews: RemovedViews,
  outputs: readonly Output[],
): Promise<ReturningViews> {
  const returning = new Map<Output, readonly FormerClaim[]>();
  const environments = groupBy(
    outputs.filter((output) => makesNewView(output) && !removedViews.hasNone(scopeOf(output))),
    ({ turn, builder }) => `${turn.tenant}|${builder.environmentId}`,
  );
  await Promise.all(
    [...environments.values()].map(async (group) => {
      const [first] = group;
      if (first === undefined) return;
      const views = group.map(({ turn: { sourceId, originId }, builder }) => ({
        sourceId,
        originId,
        alias: builder.name,
      }));
      const removed = await removedViews.read(scopeOf(first), views);
      group.forEach((output, at) => {
        const was = removed[at];
        if (was !== null && was !== undefined) returning.set(output, was.claims);
      });
    }),
  );
  return returning;
}

function scopeOf({ turn, builder }: Output): EnvironmentScope {
  return { tenant: turn.tenant, environmentId: builder.environmentId };
}

function makesNewView({ turn, builder, failure, isDeferred }: Output): boolean {
  if (builder.kind !== 'view' || turn.entity === null || failure !== null || isDeferred) return false;
  const former = turn.former?.outputs.find((output) => outputKey(output) === builder.key);
  // A record without bytes belongs to a view that was never built, or not yet since a restore.
  return former === undefined || former.bytesDigest.length === 0;
}

/** The approximate cost of comparing a reference, in units of the work budget. */
const unitsPerReference = 200;

const none: readonly string[] = [];
const noReferences: Pick<ProcessedOutput, 'references'> = {};

/** Collects the differences from the record. @returns the references for the record */
export function* compareReferences(
  changes: BatchChanges,
  { turn, builder, result }: Output,
  former: ProcessedOutput | null,
): Steps<Pick<ProcessedOutput, 'references'>> {
  if (result.kind !== 'view') return noReferences;
  const before = former?.references ?? none;
  const pieces = result.view.body.references;
  if (pieces.length === 0 && before.length === 0) return noReferences;
  const kept = yield* referencesOf(turn, builder, pieces);
  // After a batch without a commit, and in a repair, stored references may differ from the record.
  const known = new Set(turn.repair === null ? before : none);
  for (const text of kept) {
    if (!known.has(text)) changes.moveReference('add', turn, builder, text);
    if (isTimeOver()) yield;
  }
  for (const text of before) {
    if (!kept.has(text)) changes.moveReference('drop', turn, builder, text);
    if (isTimeOver()) yield;
  }
  return kept.size === 0 ? noReferences : { references: [...kept] };
}

/** Unique references in the order of their first occurrence. References into other environments are never followed. */
export function* referencesOf(
  turn: Pick<Turn, 'sourceId'>,
  { environmentId }: Pick<OutputName, 'environmentId'>,
  pieces: readonly ReferencePiece[],
): Steps<ReadonlySet<string>> {
  const texts = new Set<string>();
  for (const { target } of pieces) {
    if (target !== null && target.environmentId === environmentId) texts.add(referenceText(turn, target));
    if (isTimeOver()) yield;
  }
  return texts;
}

function isTimeOver(): boolean {
  workBudget.units += unitsPerReference;
  return workBudget.isOver();
}
