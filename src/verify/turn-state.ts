/** One entity's turn beside what is stored for it. */
import { type OutputName, outputField, outputHash, outputKey } from '../actors/batch/builder.ts';
import type { Turn } from '../actors/batch/turn.ts';
import { type Claim, type ServedClaims, unpackClaim, unpackServed } from '../store/claims/claim-records.ts';
import { competingClaimField, type RankedClaim, rankMember } from '../store/claims/competing-claims.ts';
import { claimTag } from '../store/claims/read-claims.ts';
import type { ProcessedClaim, ProcessedOutput } from '../store/derived/processed-record.ts';
import type { StoredState } from '../store/derived/stored-state.ts';
import { bodyIn, placeApart } from '../store/derived/views.ts';
import { keys } from '../store/keys.ts';
import type { Store } from '../store/store.ts';

/** Where something is stored. */
export interface Place {
  readonly key: string;
  readonly field: string;
}

type ClaimOfView = Pick<ProcessedClaim, 'field' | 'kind' | 'host' | 'sinceStamp'>;

export class TurnState {
  /** The outputs of the processed record, by `outputKey`. */
  readonly former: ReadonlyMap<string, ProcessedOutput>;
  /** By `outputKey`: what is in the fields of views, with the names that it leaves out. */
  readonly #bodies = new Map<string, Buffer | null>();

  constructor(
    readonly store: Store,
    /** Is loaded after all `want…` and before the first `check…`. */
    readonly stored: StoredState,
    readonly turn: Turn,
  ) {
    this.former = new Map(turn.former?.outputs.map((output) => [outputKey(output), output]));
  }

  placeOf(name: OutputName): Place {
    const { sourceId, originId } = this.turn;
    const tag = this.store.partitions.tag(this.store.partitions.ofEntity(sourceId, originId));
    return { key: outputHash(tag, this.turn, name), field: outputField(name, this.turn) };
  }

  /** Wants all that may be stored of a view or an item. */
  wantOutput(output: OutputName): void {
    const place = this.placeOf(output);
    this.want(place);
    if (output.kind === 'view') this.want(placeApart(place));
  }

  want({ key, field }: Place): void {
    this.stored.wantField(key, field);
  }

  read({ key, field }: Place): Buffer | null {
    return this.stored.field(key, field);
  }

  /** Makes ready what `readOutput` reads of a view; to be called when all is loaded. @throws StoreUnavailableError */
  async loadBody(view: OutputName): Promise<void> {
    const { tenantAlias: tenant } = this.turn;
    const scope = { tenant, environmentId: view.environmentId };
    const body = await bodyIn(this.store, scope, this.turn, this.read(this.placeOf(view)));
    this.#bodies.set(outputKey(view), body);
  }

  /** The stored bytes of a view or an item. */
  readOutput(output: OutputName): Buffer | null {
    return output.kind === 'view'
      ? (this.#bodies.get(outputKey(output)) ?? null)
      : this.read(this.placeOf(output));
  }

  /** Fields that `listedClaim` and `isListed` read. */
  wantClaim(environmentId: string, alias: string, claim: ClaimOfView): void {
    const { claims, ranks } = this.#keysOfClaim(environmentId, claim.field);
    this.stored.wantField(claims, claim.field);
    this.stored.wantField(claims, competingClaimField(claim.field, this.#claimOf(alias, claim)));
    this.stored.wantSortedMember(ranks, rankMember(claim.field, this.#claimOf(alias, claim)));
  }

  /** A claim of this entity's view as it is stored, in its place among others. */
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
    return this.stored.hasSortedMember(ranks, member) ? stored : undefined;
  }

  /** Whether anything is stored of a claim of this entity's view. */
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
    return claims.find(
      (claim) =>
        claim.kind === kind &&
        claim.host === host &&
        claim.view.alias === alias &&
        claim.view.sourceId === sourceId &&
        claim.view.originId === originId,
    );
  }

  #claimOf(alias: string, { kind, host, sinceStamp }: ClaimOfView): RankedClaim {
    const { sourceId, originId } = this.turn;
    return { kind, host, sinceStamp, view: { sourceId, alias, originId } };
  }

  #keysOfClaim(environmentId: string, field: string): { claims: string; ranks: string } {
    const tenant = this.turn.tenantAlias;
    const tag = claimTag(this.store, { tenant, environmentId }, field);
    return { claims: keys.claims(tag, tenant, environmentId), ranks: keys.ranks(tag, tenant, environmentId) };
  }
}
