/** The turn of an entity, with the stored data to compare it with. */

import { type OutputName, outputField, outputHash, outputKey } from '../actors/batch/builder.ts';
import type { Turn } from '../actors/batch/turn.ts';
import { isSameView } from '../store/change-log/logged-views.ts';
import {
  type Claim,
  claimTag,
  type ServedClaims,
  unpackClaim,
  unpackServed,
} from '../store/claims/claim-records.ts';
import { competingClaimField, type RankedClaim, rankMember } from '../store/claims/competing-claims.ts';
import type { ProcessedClaim, ProcessedOutput } from '../store/derived/processed-record.ts';
import type { StoredState } from '../store/derived/stored-state.ts';
import { bodyIn, fieldOfLargeBody } from '../store/derived/views.ts';
import { keys } from '../store/keys.ts';
import type { HashField } from '../store/redis/field-reader.ts';
import type { Store } from '../store/store.ts';

type ClaimOfView = Pick<ProcessedClaim, 'field' | 'kind' | 'host' | 'sinceStamp'>;

export class TurnState {
  /** The outputs of the processed record, by `outputKey`. */
  readonly former: ReadonlyMap<string, ProcessedOutput>;
  /** Stored bodies of views by `outputKey`, including the names that storage omits. */
  readonly #bodies = new Map<string, Buffer | null>();

  constructor(
    readonly store: Store,
    /** Loaded after all `request…` calls and before the first `check…` call. */
    readonly stored: StoredState,
    readonly turn: Turn,
  ) {
    this.former = new Map(turn.former?.outputs.map((output) => [outputKey(output), output]));
  }

  fieldOf(name: OutputName): HashField {
    const { sourceId, originId } = this.turn;
    const tag = this.store.partitions.tag(this.store.partitions.ofEntity(sourceId, originId));
    return { key: outputHash(tag, this.turn, name), field: outputField(name, this.turn) };
  }

  /** Requests everything stored for a view or an item. */
  requestOutput(output: OutputName): void {
    const field = this.fieldOf(output);
    this.request(field);
    if (output.kind === 'view') this.request(fieldOfLargeBody(field));
  }

  request({ key, field }: HashField): void {
    this.stored.requestField(key, field);
  }

  read({ key, field }: HashField): Buffer | null {
    return this.stored.field(key, field);
  }

  /** Prepares the body of a view for `readOutput`. Call it after loading. @throws StoreUnavailableError */
  async loadBody(view: OutputName): Promise<void> {
    const { tenant } = this.turn;
    const scope = { tenant, environmentId: view.environmentId };
    const body = await bodyIn(this.store, scope, this.turn, this.read(this.fieldOf(view)));
    this.#bodies.set(outputKey(view), body);
  }

  /** The bytes of a view or an item as built, including the names that storage omits. Null if it is not stored. */
  readOutput(output: OutputName): Buffer | null {
    return output.kind === 'view'
      ? (this.#bodies.get(outputKey(output)) ?? null)
      : this.read(this.fieldOf(output));
  }

  /** Fields that `listedClaim` and `isListed` read. */
  requestClaim(environmentId: string, alias: string, claim: ClaimOfView): void {
    const { claims, ranks } = this.#keysOfClaim(environmentId, claim.field);
    this.stored.requestField(claims, claim.field);
    this.stored.requestField(claims, competingClaimField(claim.field, this.#claimOf(alias, claim)));
    this.stored.requestMember(ranks, rankMember(claim.field, this.#claimOf(alias, claim)));
  }

  /** The stored claim of this entity's view. */
  listedClaim(environmentId: string, alias: string, claim: ClaimOfView): Claim | undefined {
    const { claims, ranks } = this.#keysOfClaim(environmentId, claim.field);
    const served = unpackServed(claim.field, this.stored.field(claims, claim.field));
    if (!served.isContested) return this.#ofView(served, alias, claim);
    const competing = this.stored.field(
      claims,
      competingClaimField(claim.field, this.#claimOf(alias, claim)),
    );
    const stored = competing === null ? undefined : unpackClaim(claim.field, competing);
    if (stored?.sinceStamp !== claim.sinceStamp) return stored;
    const member = rankMember(claim.field, this.#claimOf(alias, claim));
    return this.stored.hasMember(ranks, member) ? stored : undefined;
  }

  /** True if a claim of this entity's view is stored. */
  isListed(environmentId: string, alias: string, claim: ClaimOfView): boolean {
    const { claims } = this.#keysOfClaim(environmentId, claim.field);
    if (this.stored.field(claims, competingClaimField(claim.field, this.#claimOf(alias, claim))) !== null)
      return true;
    return (
      this.#ofView(unpackServed(claim.field, this.stored.field(claims, claim.field)), alias, claim) !==
      undefined
    );
  }

  #ofView({ claims }: ServedClaims, alias: string, { kind, host }: ClaimOfView): Claim | undefined {
    const { sourceId, originId } = this.turn;
    const view = { sourceId, originId, alias };
    return claims.find((claim) => claim.kind === kind && claim.host === host && isSameView(claim.view, view));
  }

  #claimOf(alias: string, { kind, host, sinceStamp }: ClaimOfView): RankedClaim {
    const { sourceId, originId } = this.turn;
    return { kind, host, sinceStamp, view: { sourceId, alias, originId } };
  }

  #keysOfClaim(environmentId: string, field: string): { claims: string; ranks: string } {
    const tenant = this.turn.tenant;
    const tag = claimTag(this.store, { tenant, environmentId }, field);
    return { claims: keys.claims(tag, tenant, environmentId), ranks: keys.ranks(tag, tenant, environmentId) };
  }
}
