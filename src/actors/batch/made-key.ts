/** Names of what is made of an entity, unique within it. */
import type { MadeClaim } from '../../store/derived/processed.ts';

/** Tells what is made of an entity apart. */
export function thingKey({
  kind,
  environmentId,
  name,
}: {
  kind: string;
  environmentId: string;
  name: string;
}): string {
  return `${kind}:${environmentId}:${name}`;
}

/** Tells the claims of one view apart. */
export function claimKey({ kind, host, field }: Pick<MadeClaim, 'kind' | 'host' | 'field'>): string {
  return `${kind}:${host ?? ''}:${field}`;
}
