/** What a repair of an entity is told to look at, besides everything that the entity makes. */
import type { Dependent } from './dependents.ts';

/** Something stored under an entity's name that its processed record does not account for. */
export type Suspect =
  | { readonly kind: 'view' | 'item'; readonly environmentId: string; readonly name: string }
  | {
      readonly kind: 'claim';
      readonly environmentId: string;
      /** Schema alias of the view that is said to claim. */
      readonly alias: string;
      readonly claimKind: 'page' | 'redirect';
      /** From `claimField`. */
      readonly field: string;
      readonly host: string | null;
      readonly display: string;
    }
  | { readonly kind: 'lookup'; readonly layoutId: string; readonly lookupKey: string };

/** A dependent whose invalidation makes the owner of its entity write everything again, even what it believes to be there. */
export function repairOf(
  sourceId: string,
  originId: string,
  suspect: Suspect | null,
): Dependent & { readonly kind: 'repair' } {
  // Dependents are cut at bars, which index names and lookup keys may hold.
  const name = suspect === null ? '' : Buffer.from(JSON.stringify(suspect)).toString('base64url');
  return { kind: 'repair', environmentId: '', name, sourceId, originId };
}

/** Null when the repair names nothing in particular. */
export function suspectOf({ name }: Dependent): Suspect | null {
  return name === '' ? null : (JSON.parse(Buffer.from(name, 'base64url').toString()) as Suspect);
}
