/** One entity's turn beside what is stored for it. */
import { thingKey } from '../actors/made-key.ts';
import type { Turn } from '../actors/turn.ts';
import { claimTag, unpackClaims } from '../store/claims.ts';
import { itemField, keys, viewField } from '../store/keys.ts';
import type { MadeClaim, MadeThing } from '../store/processed.ts';
import type { Store } from '../store/store.ts';
import type { StoredState } from '../store/stored-state.ts';
import type { Claim } from '../store/types.ts';

/** Where something is stored. */
export interface Place {
  readonly key: string;
  readonly field: string;
}

export class TurnState {
  /** What the processed record says was made, by `thingKey`. */
  readonly former: ReadonlyMap<string, MadeThing>;

  constructor(
    readonly store: Store,
    /** Loaded between `want…` and `check…`. */
    readonly stored: StoredState,
    readonly turn: Turn,
  ) {
    this.former = new Map(turn.former?.made.map((thing) => [thingKey(thing), thing]));
  }

  placeOf({ kind, environmentId, name }: Pick<MadeThing, 'kind' | 'environmentId' | 'name'>): Place {
    const { tenantAlias: tenant, sourceId, originId } = this.turn;
    const tag = this.store.partitions.tag(this.store.partitions.ofEntity(sourceId, originId));
    return kind === 'view'
      ? { key: keys.views(tag, tenant, environmentId), field: viewField(sourceId, name, originId) }
      : { key: keys.items(tag, tenant, environmentId, name), field: itemField(sourceId, originId) };
  }

  placeOfClaim(environmentId: string, field: string): Place {
    const scope = { tenant: this.turn.tenantAlias, environmentId };
    return { key: keys.claims(claimTag(this.store, scope, field), scope.tenant, environmentId), field };
  }

  want({ key, field }: Place): void {
    this.stored.wantField(key, field);
  }

  read({ key, field }: Place): Buffer | null {
    return this.stored.field(key, field);
  }

  /** A claim of this entity's view as it is stored under its field. */
  storedClaim(
    environmentId: string,
    alias: string,
    { field, kind, host }: Pick<MadeClaim, 'field' | 'kind' | 'host'>,
  ): Claim | undefined {
    const { sourceId, originId } = this.turn;
    return unpackClaims(this.read(this.placeOfClaim(environmentId, field))).find(
      (claim) =>
        claim.kind === kind &&
        claim.host === host &&
        claim.view.alias === alias &&
        claim.view.sourceId === sourceId &&
        claim.view.originId === originId,
    );
  }
}
