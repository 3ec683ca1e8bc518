/** Names of what a lookup's result flows into: one view, or one index item, of one entity. */
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
