/**
 * Names of what a lookup's result flows into: one view, or one index item, of one entity. A repair of an entity is asked for in
 * the same way, and may name what is suspected besides everything that the entity makes.
 */
import type { EntityRef } from '../../contract/ids.ts';
import { longId, shortId } from '../codec/short-id.ts';

export interface Dependent extends EntityRef {
  /**
   * `repair`: all of the entity, written even where nothing seems to have changed. `actions`: no output, but what a schema
   * asks for when the entity changes.
   */
  readonly kind: 'view' | 'item' | 'entity' | 'repair' | 'actions';
  /** Empty for `entity` and `repair`: all views and items of it. */
  readonly environmentId: string;
  /** Schema alias or index name; the entity kind has none, a repair's is made by `repairOf`. */
  readonly name: string;
}

const kinds = { v: 'view', i: 'item', e: 'entity', r: 'repair', a: 'actions' } as const;
const letters = { view: 'v', item: 'i', entity: 'e', repair: 'r', actions: 'a' } as const;

/** `v|<environment>|<alias>|<source>|<originId>`, both ids from `shortId`: only the last part may hold a bar. */
export function formatDependent({ kind, environmentId, name, sourceId, originId }: Dependent): string {
  return `${letters[kind]}|${shortId(environmentId)}|${name}|${shortId(sourceId)}|${originId}`;
}

/** Null for a text that is none. */
export function parseDependent(member: string): Dependent | null {
  const [letter = '', environmentId, name, sourceId, ...rest] = member.split('|');
  const kind = Object.hasOwn(kinds, letter) ? kinds[letter as keyof typeof kinds] : undefined;
  if (kind === undefined || environmentId === undefined || name === undefined || sourceId === undefined) {
    return null;
  }
  return {
    kind,
    environmentId: longId(environmentId),
    name,
    sourceId: longId(sourceId),
    originId: rest.join('|'),
  };
}

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
