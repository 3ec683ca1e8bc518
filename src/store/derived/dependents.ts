/**
 * Names of dependents of a lookup: a view or index item of an entity. Repairs of entities are requested in the same way, and
 * may name a suspect in addition to the outputs of the entity.
 */
import type { EntityRef } from '../../contract/ids.ts';
import { longId, shortId } from '../codec/short-id.ts';

export interface Dependent extends EntityRef {
  /**
   * `repair`: everything of the entity, written even if it seems unchanged. `actions`: no output, but the actions of a schema
   * when the entity changes.
   */
  readonly kind: 'view' | 'item' | 'entity' | 'repair' | 'actions';
  /** Empty for `entity` and `repair`, which mean all views and items. */
  readonly environmentId: string;
  /** Schema alias or index name; empty for `entity`; from `repairOf` for a repair. */
  readonly name: string;
}

const kinds = { v: 'view', i: 'item', e: 'entity', r: 'repair', a: 'actions' } as const;
const letters = { view: 'v', item: 'i', entity: 'e', repair: 'r', actions: 'a' } as const;

/** `v|<environment>|<alias>|<source>|<originId>`, both ids from `shortId`; only the last part may contain a bar. */
export function formatDependent({ kind, environmentId, name, sourceId, originId }: Dependent): string {
  return `${letters[kind]}|${shortId(environmentId)}|${name}|${shortId(sourceId)}|${originId}`;
}

/** Null if the text is invalid. */
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

/** Data stored for an entity that its processed record does not account for. */
export type Suspect =
  | { readonly kind: 'view' | 'item'; readonly environmentId: string; readonly name: string }
  | {
      readonly kind: 'claim';
      readonly environmentId: string;
      /** Schema alias of the view with the claim. */
      readonly alias: string;
      readonly claimKind: 'page' | 'redirect';
      /** From `claimField`. */
      readonly field: string;
      readonly host: string | null;
      readonly display: string;
    }
  | { readonly kind: 'lookup'; readonly layoutId: string; readonly lookupKey: string };

/** A dependent whose invalidation makes the owner of its entity rewrite everything, even if it seems to be stored. */
export function repairOf(
  sourceId: string,
  originId: string,
  suspect: Suspect | null,
): Dependent & { readonly kind: 'repair' } {
  // Encoded, because dependents are split at bars, which index names and lookup keys may contain.
  const name = suspect === null ? '' : Buffer.from(JSON.stringify(suspect)).toString('base64url');
  return { kind: 'repair', environmentId: '', name, sourceId, originId };
}

/** Null if the repair has no suspect. */
export function suspectOf({ name }: Dependent): Suspect | null {
  return name === '' ? null : (JSON.parse(Buffer.from(name, 'base64url').toString()) as Suspect);
}
