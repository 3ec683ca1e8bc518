/** Names of what a lookup's result flows into: one view, or one index item, of one entity. */
import type { EntityRef } from '../contract/ids.ts';

export interface Dependent extends EntityRef {
  readonly kind: 'view' | 'item' | 'entity';
  /** Empty for `entity`: all views and items of it. */
  readonly environmentId: string;
  /** Schema alias or index name; the entity kind has none. */
  readonly name: string;
}

const kinds = { v: 'view', i: 'item', e: 'entity' } as const;
const marks = { view: 'v', item: 'i', entity: 'e' } as const;

/** `v|<environment>|<alias>|<source>|<originId>`: only the last part may hold a bar. */
export function formatDependent({ kind, environmentId, name, sourceId, originId }: Dependent): string {
  return `${marks[kind]}|${environmentId}|${name}|${sourceId}|${originId}`;
}

/** Null for a text that is none. */
export function parseDependent(member: string): Dependent | null {
  const [mark = '', environmentId, name, sourceId, ...rest] = member.split('|');
  const kind = Object.hasOwn(kinds, mark) ? kinds[mark as keyof typeof kinds] : undefined;
  if (kind === undefined || environmentId === undefined || name === undefined || sourceId === undefined) {
    return null;
  }
  return { kind, environmentId, name, sourceId, originId: rest.join('|') };
}
