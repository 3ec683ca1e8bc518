/** Compares the outputs of each turn with those of its processed record, and notes what differs for the commit. */
import { digestOf } from '../../store/codec/digest.ts';
import {
  encodeProcessed,
  type ProcessedClaim,
  type ProcessedOutput,
  type ProcessedRecord,
} from '../../store/derived/processed-record.ts';
import type { AutoTypes } from './auto-types.ts';
import { dependentOf, outdatedDigest, outputKey } from './builder.ts';
import type { BatchChanges } from './changes.ts';
import { claimKey, claimsOf, formerClaims, isListed, sameClaim } from './claims.ts';
import { diagnosticsOf } from './diagnostics.ts';
import type { LookupSource } from './lookup-source.ts';
import type { Output } from './output.ts';
import { storedOutput } from './stored-output.ts';
import { formerOutputs, type Turn } from './turn.ts';

export class Comparison {
  constructor(
    private readonly changes: BatchChanges,
    private readonly autoTypes: AutoTypes,
    private readonly lookups: LookupSource,
  ) {}

  /** @param outputs in the order of their turns */
  compareTurns(turns: readonly Turn[], outputs: readonly Output[]): void {
    let at = 0;
    for (const turn of turns) {
      const first = at;
      while (outputs[at]?.turn === turn) at += 1;
      this.#compareTurn(turn, outputs.slice(first, at));
    }
  }

  #compareTurn(turn: Turn, outputs: readonly Output[]): void {
    this.changes.counts.entities += turn.only === null ? 1 : 0;
    const formers = formerOutputs(turn);
    const recorded: ProcessedOutput[] = [];
    for (const output of outputs) {
      const former = formers.get(output.builder.key) ?? null;
      if (!output.isDeferred) recorded.push(this.#compareOutput(output, former));
      else if (former !== null) recorded.push(this.#keepOutdated(output, former));
      this.#unregister(output, former);
    }
    const built = recorded.length;
    for (const [key, former] of formers) {
      if (outputs.some(({ builder }) => builder.key === key)) continue;
      // A part that was asked for and has no builder goes as well: nothing would tell later that it missed a change.
      if (turn.only === null || turn.only.has(dependentOf(former, turn))) this.#remove(turn, former);
      else recorded.push(former);
    }
    // Outputs that were built are in the order of their keys already.
    if (recorded.length > built) recorded.sort(byKey);
    this.#record(turn, recorded);
  }

  /** @param outputs by their keys, so that equal records have equal bytes */
  #record(turn: Turn, outputs: readonly ProcessedOutput[]): void {
    const { entity, former, only, indexEntries: lookups } = turn;
    if (entity === null) {
      if (former !== null) this.changes.removeRecord(turn);
      return;
    }
    // A rebuilt part does not stand for the entity's change: that still waits in the stream.
    const record: ProcessedRecord =
      only !== null && former !== null
        ? { ...former, outputs }
        : { stamp: entity.stamp, type: entity.type, lookups, outputs };
    const encoded = encodeProcessed(record);
    const mayBeSame = turn.repair === null && former?.stamp === record.stamp;
    if (mayBeSame && encodeProcessed(former).equals(encoded)) return;
    this.changes.putRecord(turn, encoded);
  }

  #compareOutput(output: Output, former: ProcessedOutput | null): ProcessedOutput {
    const { turn, builder, dependsOn } = output;
    const { counts } = this.changes;
    const stored = storedOutput(output, this.autoTypes);
    const bytesDigest = digestOf(stored.bytes);
    const isSame = former?.bytesDigest.equals(bytesDigest) ?? false;
    this.changes.countFindings(diagnosticsOf(output, stored.misfits, (demand) => this.lookups.isCut(demand)));
    // Equal bytes are not written again. A repair does not trust the record.
    if (!isSame || turn.repair !== null) this.changes.putOutput(turn, builder, stored, former !== null);
    counts.built += 1;
    counts.unchanged += isSame ? 1 : 0;
    const { kind, environmentId, name, schemaDigest } = builder;
    const claims = this.#compareClaims(output, former);
    return { kind, environmentId, name, schemaDigest, bytesDigest, claims, dependsOn };
  }

  /**
   * Keeps the last output and notes it as outdated, so that no later configuration takes it for its own. Its claims depend
   * on the entity alone and follow it at once. Otherwise the age of a claim would be lost with the state that began it.
   */
  #keepOutdated(output: Output, former: ProcessedOutput): ProcessedOutput {
    return { ...former, schemaDigest: outdatedDigest, claims: this.#compareClaims(output, former) };
  }

  #remove(turn: Turn, former: ProcessedOutput): void {
    this.changes.removeOutput(turn, former);
    for (const claim of former.claims) this.changes.moveClaim('drop', turn, former, claim);
    this.changes.unregister(turn, dependentOf(former, turn), former.dependsOn);
  }

  #compareClaims({ turn, result, builder }: Output, former: ProcessedOutput | null): ProcessedClaim[] {
    if (result.kind !== 'view' || turn.entity === null) return [];
    const before = former?.claims ?? [];
    const { url, handles } = result.claims;
    const claimsNothing = url === null && handles.length === 0;
    const claims = claimsNothing ? [] : claimsOf(turn.entity, result.claims, formerClaims(turn, builder));
    // Most views claim nothing, or one URL for the first time.
    const formers = before.length === 0 ? null : new Map(before.map((claim) => [claimKey(claim), claim]));
    const kept = before.length === 0 ? null : new Set(claims.map(claimKey));
    for (const claim of before) {
      if (!kept?.has(claimKey(claim))) this.changes.moveClaim('drop', turn, builder, claim);
    }
    const areListed = isListed(turn, former);
    for (const claim of claims) {
      if (areListed && sameClaim(claim, formers?.get(claimKey(claim)))) continue;
      this.changes.moveClaim('put', turn, builder, claim);
    }
    return claims;
  }

  /** Drops registrations from before, and of earlier rounds, that the result does not rest on. */
  #unregister(output: Output, former: ProcessedOutput | null): void {
    const { registered, dependsOn, isDeferred } = output;
    const before = former?.dependsOn ?? [];
    // A deferred output rests on what its last state rests on.
    const [dropped, kept] = isDeferred ? [[], before] : [before, dependsOn];
    if (dropped.length === 0 && registered.size === 0) return;
    const gone = new Map([...dropped, ...registered.values()].map((key) => [`${key[0]}:${key[1]}`, key]));
    for (const [sourceId, lookupKey] of kept) gone.delete(`${sourceId}:${lookupKey}`);
    this.changes.unregister(output.turn, output.dependent, [...gone.values()]);
  }
}

function byKey(a: ProcessedOutput, b: ProcessedOutput): number {
  return outputKey(a) < outputKey(b) ? -1 : 1;
}
