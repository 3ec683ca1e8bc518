/** Compares the outputs of each turn with its processed record, and collects the differences for the commit. */
import { sliceMs } from '../../contract/limits.ts';
import { momentAfter } from '../../contract/publish-times.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { BuildFailure } from '../../schemas/build/build-outcome.ts';
import { contentDigest } from '../../store/codec/digest.ts';
import {
  claimKey,
  encodeProcessed,
  isRestored,
  type ProcessedClaim,
  type ProcessedOutput,
  type ProcessedRecord,
  processedState,
} from '../../store/derived/processed-record.ts';
import type { AutoTypes } from './auto-types.ts';
import { type BatchChanges, deferredOutput } from './batch-changes.ts';
import { diagnosticsOf } from './batch-diagnostics.ts';
import { storedOutput } from './build-turns.ts';
import { type Builder, dependentOf, outdatedDigest, outputKey } from './builder.ts';
import type { LookupSource } from './lookup-source.ts';
import type { Output } from './output.ts';
import { formerOutputs, type Turn } from './turn.ts';
import { claimsInForm, claimsOfOutput, isListed, sameClaim } from './view-claims.ts';
import {
  causeBefore,
  causeOf,
  compareReferences,
  historyOf,
  type ReturningViews,
  removedView,
} from './view-history.ts';

/** Digest of an output that was never built. */
const nothingMade = Buffer.alloc(0);
/** Digest of an output that may differ from its record. It equals no other digest. */
const unknownBytes = Buffer.from([0]);

interface ClaimChange {
  readonly before: readonly ProcessedClaim[];
  readonly claims: readonly ProcessedClaim[];
  /** True if unchanged claims need not be written again. */
  readonly areListed: boolean;
  /** True if the view gets an entry in the change log anyway. */
  readonly isReported: boolean;
}

export class Comparison {
  constructor(
    private readonly changes: BatchChanges,
    private readonly autoTypes: AutoTypes,
    private readonly lookups: LookupSource,
    private readonly returning: ReturningViews,
  ) {}

  /** @param outputs in the order of their turns */
  async compareTurns(turns: readonly Turn[], outputs: readonly Output[]): Promise<void> {
    const slice = new Slice(sliceMs);
    let at = 0;
    for (const turn of turns) {
      const first = at;
      while (outputs[at]?.turn === turn) at += 1;
      await slice.run(this.#compareTurn(turn, outputs.slice(first, at)));
    }
  }

  /** In steps, because an output can have megabytes. */
  *#compareTurn(turn: Turn, outputs: readonly Output[]): Generator<undefined, void, undefined> {
    this.changes.counts.entities += turn.only === null ? 1 : 0;
    const formers = formerOutputs(turn);
    const recorded: ProcessedOutput[] = [];
    for (const output of outputs) {
      const former = formers.get(output.builder.key) ?? null;
      if (output.failure !== null) recorded.push(this.#keepFailed(output, former, output.failure));
      else if (!output.isDeferred) recorded.push(yield* this.#compareOutput(output, former));
      else if (former !== null) recorded.push(this.#keepOutdated(output, former));
      this.#defer(output);
      this.#unregister(output, former);
      yield;
    }
    const built = recorded.length;
    for (const [key, former] of formers) {
      if (outputs.some(({ builder }) => builder.key === key)) continue;
      // A requested part without a builder is removed too, because nothing would detect later that it missed a change.
      if (turn.only === null || turn.only.has(dependentOf(former, turn))) this.#remove(turn, former);
      else recorded.push(former);
    }
    // Built outputs are already in the order of their keys.
    if (recorded.length > built) recorded.sort(byKey);
    this.#record(turn, recorded);
  }

  #defer(output: Output): void {
    const { turn, deferredFor } = output;
    if (deferredFor === null || output.failure !== null) return;
    this.changes.deferred.push(deferredOutput(turn, output.dependent, deferredFor));
  }

  /** @param outputs ordered by key, so that equal records have equal bytes */
  #record(turn: Turn, outputs: readonly ProcessedOutput[]): void {
    const { entity, former, only, indexEntries: lookups } = turn;
    this.#list(turn);
    this.#schedule(turn);
    if (entity === null) {
      if (former !== null) this.changes.removeRecord(turn);
      return;
    }
    // A rebuilt part does not cover the entity's change, which is still in the stream.
    const record: ProcessedRecord =
      only !== null && former !== null
        ? { ...former, outputs }
        : { stamp: entity.stamp, type: entity.type, lookups, outputs, ...timesOf(turn) };
    const mayBeSame = turn.repair === null && former?.stamp === record.stamp;
    if (mayBeSame && encodeProcessed(former).equals(encodeProcessed(record))) return;
    this.changes.putRecord(turn, record);
  }

  /** Makes the next state change of the entity its only entry in the schedule. */
  #schedule(turn: Turn): void {
    const { entity, former, only, state, repair, moments } = turn;
    if (only !== null || (entity?.times === undefined && former?.times === undefined && moments.length === 0))
      return;
    const next = entity === null ? null : momentAfter(entity.times, state);
    // A restored record has no entry yet.
    const hasEntry = former !== null && !isRestored(former);
    const before = hasEntry ? momentAfter(former.times, processedState(former)) : null;
    const stale = new Set([...moments, ...(before === null ? [] : [before])]);
    for (const moment of stale) if (moment !== next) this.changes.wait(turn, moment, false);
    if (next !== null && (next !== before || repair !== null)) {
      this.changes.wait(turn, next, true, next !== before);
    }
  }

  /** Updates the directories of entities by type. */
  #list(turn: Turn): void {
    const { entity, former, only, repair } = turn;
    // A rebuilt part does not cover the entity's change.
    if (only !== null) return;
    if (former !== null && former.type !== entity?.type) this.changes.list(turn, former.type, 'removed');
    if (entity === null) return;
    if (repair !== null || isRestored(former)) this.changes.list(turn, entity.type, 'kept');
    else if (former?.type !== entity.type) this.changes.list(turn, entity.type, 'new');
  }

  *#compareOutput(output: Output, former: ProcessedOutput | null): Steps<ProcessedOutput> {
    const { turn, builder, dependsOn } = output;
    const { counts } = this.changes;
    const stored = yield* storedOutput(output, this.autoTypes);
    const bytesDigest = contentDigest(stored.bytes);
    const isSame = former?.bytesDigest.equals(bytesDigest) ?? false;
    this.changes.countFindings(diagnosticsOf(output, stored.misfits, (demand) => this.lookups.isCut(demand)));
    // Equal bytes are not written again. A repair does not trust the record.
    if (!isSame || turn.repair !== null) this.changes.putOutput(turn, builder, stored, former !== null);
    counts.built += 1;
    counts.unchanged += isSame ? 1 : 0;
    // A record of an earlier version has a weaker digest, which never counts as equal, because a text with the same digest can
    // be constructed.
    const isReported = !isSame || turn.isUncertain;
    if (builder.kind === 'view' && (!isSame || turn.isUncertain || turn.repair !== null))
      this.changes.reportView(turn, builder, isReported);
    const { kind, environmentId, name, schemaDigest } = builder;
    const claims = this.#compareClaims(output, former, isReported);
    const history = historyOf(turn, former, claims, isReported, this.returning.get(output));
    const references = yield* compareReferences(this.changes, output, former);
    return {
      kind,
      environmentId,
      name,
      schemaDigest,
      bytesDigest,
      claims,
      dependsOn,
      ...history,
      ...references,
      ...destinationsOf(output),
      ...(isSame ? causeBefore(former) : causeOf(turn, former, builder)),
    };
  }

  /**
   * Keeps the last output and marks it as outdated, so that no later configuration considers it current. The claims of a JSON
   * schema only depend on the entity and are updated now, because their age would be lost with this state of the entity. A
   * repair does not trust the record, so it ensures that the output is written when it is built.
   */
  #keepOutdated(output: Output, former: ProcessedOutput): ProcessedOutput {
    const { result } = output;
    const areUnknown = result.kind === 'view' && result.claims.areUnknown === true;
    const claims = areUnknown ? this.#keepClaims(output, former) : this.#compareClaims(output, former, false);
    const { reportedType, formerClaims, ...kept } = former;
    const history = historyOf(output.turn, former, claims, false);
    const isDoubted = output.turn.repair !== null && former.bytesDigest.length > 0;
    const bytesDigest = isDoubted ? unknownBytes : former.bytesDigest;
    return { ...kept, bytesDigest, schemaDigest: outdatedDigest, claims, ...history };
  }

  /**
   * Keeps the last output with its claims, and records the failure. The record has the current schema, because another build of
   * the same state would fail again. Without a last output, only the failure is recorded.
   */
  #keepFailed(
    output: Output,
    former: ProcessedOutput | null,
    { message, place }: BuildFailure,
  ): ProcessedOutput {
    const { turn, builder, dependsOn } = output;
    const { kind, environmentId, name, schemaDigest } = builder;
    this.changes.countFindings(diagnosticsOf(output, [], () => false));
    const failure = { message, place };
    if (former === null) {
      return {
        kind,
        environmentId,
        name,
        schemaDigest,
        bytesDigest: nothingMade,
        claims: [],
        dependsOn,
        failure,
      };
    }
    const { reportedType, formerClaims, ...kept } = former;
    const claims = this.#keepClaims(output, former);
    const history = historyOf(turn, former, claims, false);
    return { ...kept, schemaDigest, claims, dependsOn, ...history, failure };
  }

  /**
   * A kept view keeps the claims of its record, in the URL form of its tenant. Other claims that a repair suspects are dropped.
   * A view that was never built, or only restored, has no stored claims yet.
   */
  #keepClaims({ turn, builder }: Output, former: ProcessedOutput): readonly ProcessedClaim[] {
    const recorded = turn.former?.outputs.find((output) => outputKey(output) === builder.key)?.claims ?? [];
    const claims = claimsInForm(recorded, turn.urlForm);
    const isMade = former.bytesDigest.length > 0;
    this.#moveClaims(turn, builder, {
      before: isMade ? former.claims : former.claims.filter((claim) => !recorded.includes(claim)),
      claims: isMade ? claims : [],
      areListed: isListed(turn, former),
      isReported: false,
    });
    return claims;
  }

  #remove(turn: Turn, former: ProcessedOutput): void {
    this.changes.unregister(turn, dependentOf(former, turn), former.dependsOn);
    // It was never built.
    if (former.failure !== undefined && former.bytesDigest.length === 0) return;
    this.changes.removeOutput(turn, former);
    if (former.kind === 'view') this.changes.reportRemoved(turn, former, removedView(turn, former));
    for (const claim of former.claims) this.changes.moveClaim('drop', turn, former, claim, true);
    for (const text of former.references ?? []) this.changes.moveReference('drop', turn, former, text);
  }

  #compareClaims(output: Output, former: ProcessedOutput | null, isReported: boolean): ProcessedClaim[] {
    const { turn, builder } = output;
    const before = former?.claims ?? [];
    const claims = claimsOfOutput(output);
    this.#moveClaims(turn, builder, { before, claims, areListed: isListed(turn, former), isReported });
    return claims;
  }

  #moveClaims(turn: Turn, builder: Builder, { before, claims, areListed, isReported }: ClaimChange): void {
    // Fast path: most views have no claims, or only new ones.
    const formers = before.length === 0 ? null : new Map(before.map((claim) => [claimKey(claim), claim]));
    const kept = before.length === 0 ? null : new Set(claims.map(claimKey));
    for (const claim of before) {
      if (!kept?.has(claimKey(claim))) this.changes.moveClaim('drop', turn, builder, claim, isReported);
    }
    for (const claim of claims) {
      if (areListed && sameClaim(claim, formers?.get(claimKey(claim)))) continue;
      this.changes.moveClaim('put', turn, builder, claim, isReported);
    }
  }

  /** Drops registrations of the last build and of earlier rounds that the result does not depend on. */
  #unregister(output: Output, former: ProcessedOutput | null): void {
    const { registered, dependsOn, isDeferred } = output;
    const before = former?.dependsOn ?? [];
    // A deferred output still depends on what its last build read.
    const [dropped, kept] = isDeferred ? [[], before] : [before, dependsOn];
    if (dropped.length === 0 && registered.size === 0) return;
    const gone = new Map([...dropped, ...registered.values()].map((key) => [`${key[0]}:${key[1]}`, key]));
    for (const [sourceId, lookupKey] of kept) gone.delete(`${sourceId}:${lookupKey}`);
    this.changes.unregister(output.turn, output.dependent, [...gone.values()]);
  }
}

function timesOf({ entity, state, isBySchedule }: Turn): Pick<ProcessedRecord, 'times'> {
  return entity?.times === undefined ? {} : { times: { ...entity.times, state, isBySchedule } };
}

/** The webhook destinations of the view, for its record. */
function destinationsOf({ result }: Output): Pick<ProcessedOutput, 'destinations'> {
  return result.kind === 'item' || result.destinations.length === 0
    ? {}
    : { destinations: result.destinations.map(({ alias, options }) => ({ alias, options })) };
}

function byKey(a: ProcessedOutput, b: ProcessedOutput): number {
  return outputKey(a) < outputKey(b) ? -1 : 1;
}
